"""Slots: which cores can stand in them, what they must offer, and everything that is refused."""
