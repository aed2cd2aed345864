"""Slots: which cores can stand in them, what they must offer, and what is refused."""
