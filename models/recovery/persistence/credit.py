"""The credit of a channel with a receiver that begins above its share.

Where the receiver replays what its sender had in flight, too, it holds buffers that the sender's
pool would have held.  They are taken out of that pool: the credit begins below what the receiver
can hold, below zero if need be, and while it is below zero the sender has so much less room.  Each
recovered buffer that is processed gives one back.

Invariant: both ends hold together no more than their two pools, or the recovered data.

Source: FLIP-76, spanning records with rescaling, option 1.
"""

from __future__ import annotations


class LentCredit:
    """Credit and room of one channel.

    credit: how many buffers the sender may send, below zero while it owes some.  lent: how many
    recovered ones have not been processed yet.
    """

    __slots__ = ("_room", "credit", "lent")

    def __init__(self, *, sender: int, receiver: int) -> None:
        self._room = sender
        self.credit = receiver
        self.lent = 0

    @property
    def may_send(self) -> bool:
        """Whether the sender may send a buffer."""
        return self.credit > 0

    def has_room(self, queued: int) -> bool:
        """Return whether the sender may put one more buffer after those that are queued."""
        return queued < self._room + min(0, self.credit)

    def recover(self, held: int) -> None:
        """Lend the receiver the memory of what it begins with."""
        self.credit -= held
        self.lent += held

    def send(self) -> None:
        """Take a credit for a buffer that is sent."""
        self.credit -= 1

    def give_back(self) -> None:
        """Give a credit for a buffer that was processed."""
        self.credit += 1
