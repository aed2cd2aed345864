"""Cores that take whatever there is, in a module that runs twice the same."""

from ckptsim.models.ordering import OrderingCore


class Slow(OrderingCore):
    """Takes time without end."""

    def step(self, event):
        """Never return."""
        while event:
            pass


class Large(OrderingCore):
    """Takes memory without end."""

    def step(self, event):
        """Never return."""
        held = []
        while event:
            held.append(bytearray(1 << 20))
