"""Random jobs on either data plane, for whatever has to do with barriers."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from ckptsim.scenarios.files import from_json
from ckptsim.scenarios.generators import buffer_jobs, final_checkpoint, uncoordinated
from ckptsim.scenarios.generators.choices import Choices
from ckptsim.scenarios.generators.job_environment import add_environment
from ckptsim.scenarios.generators.small import (
    closing,
    endless,
    failing_over,
    harmless,
    in_flight,
    late_barriers,
    overtaking,
    situations,
    tight_buffers,
)
from ckptsim.scenarios.spec import Scenario


def barriers(choices: Choices) -> Scenario:
    """Return a random job with a fault plan; some on buffers fail and are restarted."""
    # Jobs on records are the cheaper ones, small ones most of all, and have more happen to them.
    draws = (_on_buffers, _on_records, _crashing, uncoordinated.document)
    small = (in_flight.document, in_flight.on_buffers)
    tight = (tight_buffers.document,) * 7
    closed = (
        *(failing_over.lost,) * 2,
        failing_over.resubmitted,
        failing_over.used_up,
        *(failing_over.lost_while_restoring,) * 3,
        closing.document,
        *(closing.aligning,) * 2,
        *(closing.partly_finished,) * 2,
        *(closing.stopped,) * 2,
        *(endless.document,) * 2,
    )
    overtaken = (overtaking.uneven, *(overtaking.rescaled,) * 3, overtaking.given_up) * 2
    more = (uncoordinated.document, *small, in_flight.on_buffers, *small, *tight, *closed)
    late = partial(situations.arranged, arrange=late_barriers.late_barriers)
    rare = (*(situations.document,) * 4, *(late,) * 3)
    return _drawn(choices, (*draws, *more, *overtaken, *rare))


def barrier_protocol(choices: Choices) -> Scenario:
    """Return a random job on records, some of whose tasks take checkpoints by themselves."""
    # Those without barriers take half as long as the others.
    drawn = (_on_records, *(in_flight.document,) * 2, *(uncoordinated.document,) * 2)
    on_either = (failing_over.lost, closing.partly_finished, failing_over.resubmitted)
    on_records = tuple(partial(draw, on_buffers=False) for draw in on_either)
    return _drawn(choices, (*drawn * 2, *on_records, *situations.each() * 2))


def _drawn(choices: Choices, draws: tuple[Callable[[Choices], dict[str, Any]], ...]) -> Scenario:
    text = harmless.with_harmless_faults(choices, choices.of(draws)(choices))
    text = final_checkpoint.fitting(choices, final_checkpoint.ending_soundly(text))
    return from_json(json.dumps({"violates": final_checkpoint.hazards_of(text)} | text))


def _on_buffers(choices: Choices) -> dict[str, Any]:
    return add_environment(choices, buffer_jobs.short(buffer_jobs.document(choices)))


def _crashing(choices: Choices) -> dict[str, Any]:
    return add_environment(choices, buffer_jobs.short(buffer_jobs.crashing_document(choices)))


def _on_records(choices: Choices) -> dict[str, Any]:
    text = add_environment(choices, final_checkpoint.document(choices))
    return text | {"link": "barrier_protocol"}
