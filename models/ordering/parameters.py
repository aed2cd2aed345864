"""What an ordering core is built from."""

from __future__ import annotations

from dataclasses import dataclass

from ckptsim.models.ordering.keys import Medium, StreamDescriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderingParameters:
    """The parameters of one attempt's ordering core.

    streams: the catalog, in its order; every other stream is refused.
    channels: how many channels must end before the input is closed (sockets; 1 on STDIO).
    released_ids_kept: how many released ids per stream keep exact counters, for late reports of
        their records; older ones are folded into one sum per stream.  An assumption: generous for
        reports that trail a release by some batches, and a few hundred kilobytes at most.
    """

    medium: Medium
    streams: tuple[StreamDescriptor, ...]
    channels: int = 1
    released_ids_kept: int = 1024

    def __post_init__(self) -> None:
        if len(dict.fromkeys(self.streams)) != len(self.streams):
            raise ValueError(f"streams: a stream is listed twice in {self.streams}")
        if self.channels < 1:
            raise ValueError(f"channels: found {self.channels}, expected at least 1")
        if self.released_ids_kept < 0:
            raise ValueError(f"released_ids_kept: found {self.released_ids_kept}, expected >= 0")
