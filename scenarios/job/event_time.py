"""Event time of a job on records: watermarks that its sources send, and when they are idle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ckptsim.scenarios.dialect import Limits, duration_text
from ckptsim.scenarios.errors import Problem
from ckptsim.scenarios.fields import duration_ns
from ckptsim.scenarios.limits import not_on_buffers

_SMALL = "assumption: none, so that jobs without event time are hunted without its traffic"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTime:
    """Watermarks of sources. The timestamp of a record is when its split's rate makes it due."""

    LIMITS: ClassVar[Limits] = not_on_buffers(
        "data have no timestamps there, and a watermark moves nothing that is measured"
    )

    watermark_interval_ns: int | None = duration_ns(
        None,
        optional=True,
        minimum="1 us",
        maximum="1 h",
        says="between two watermarks of a source, which are told if they have changed; absent: no "
        "watermark but the final one",
        source=_SMALL + "; pipeline.auto-watermark-interval",
    )
    idle_timeout_ns: int | None = duration_ns(
        None,
        optional=True,
        minimum="1 us",
        maximum="1 d",
        says="a split that has had no record for so long is idle, and holds no watermark back; "
        "absent: none ever is",
        source="Source: Apache Flink 1.20.3, WatermarkStrategy.withIdleness",
    )

    def problems(self) -> list[Problem]:
        """Return what does not hold between the values."""
        if self.idle_timeout_ns is None or self.watermark_interval_ns is not None:
            return []
        expected = "nothing without watermark_interval: idleness is told with watermarks"
        return [Problem("idle_timeout", duration_text(self.idle_timeout_ns), expected)]
