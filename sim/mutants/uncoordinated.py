"""Mutants of checkpoints without barriers: of the recovery line, and of what messages force."""

from __future__ import annotations

from ckptsim.models import uncoordinated
from ckptsim.sim.mutants.mutant import by_name, of_slot


class NewestOfEach(uncoordinated.RecoveryLine):
    """Restarts every task from its newest checkpoint, whatever others have processed."""

    def _newest_consistent(self) -> list[int]:
        return [len(stored) - 1 for stored in self._stored]


class ForgetsMessagesOnTheirWay(uncoordinated.RecoveryLine):
    """Goes back for orphans alone although no log has the messages on their way."""

    def _newest_consistent(self) -> list[int]:
        logged, self._logged = self._logged, True
        found = super()._newest_consistent()
        self._logged = logged
        return found


class LooksAtEachChannelOnce(uncoordinated.RecoveryLine):
    """Goes back over each channel once: what that causes on earlier channels is not looked at."""

    def _newest_consistent(self) -> list[int]:
        places = [len(stored) - 1 for stored in self._stored]
        for channel, ends in reversed(list(enumerate(self._channels))):
            sent = self._stored[ends.sender][places[ends.sender]].sent.get(channel, 0)
            while self._received(channel, ends.receiver, places[ends.receiver]) > sent:
                places[ends.receiver] -= 1
        return places


class TruncatesWhatWasSent(uncoordinated.RecoveryLine):
    """Truncates logs up to the sent data of the sender's checkpoint, which loses data in flight."""

    def _truncate(self) -> list[uncoordinated.LineEffect]:
        found: list[uncoordinated.LineEffect] = []
        for channel, ends in enumerate(self._channels):
            number = self._stored[ends.sender][0].sent.get(channel, 0)
            found += [uncoordinated.TruncateLog(channel, number)] if number else []
        return found


class NeverForced(uncoordinated.InducedTask):
    """Takes over a higher index without a checkpoint."""

    def step(self, event: uncoordinated.TaskEvent) -> list[uncoordinated.TakeCheckpoint]:
        """Believe the message."""
        if isinstance(event, uncoordinated.MessageNext):
            self.index = max(self.index, event.index)
            return []
        return super().step(event)


MUTANTS = by_name(
    *of_slot(
        "recovery_line",
        NewestOfEach,
        ForgetsMessagesOnTheirWay,
        LooksAtEachChannelOnce,
        TruncatesWhatWasSent,
    ),
    *of_slot("induced", NeverForced),
)
