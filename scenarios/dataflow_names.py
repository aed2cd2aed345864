"""Names of the situations that runs of a dataflow job can be asked to reach."""

from __future__ import annotations

GOALS: tuple[str, ...] = (
    "overtook_buffers",
    "timed_out_in_input",
    "timed_out_in_output",
    "credit_starvation",
    "overdraft_used",
    "debloat_changed_size",
    "back_pressured",
    "end_of_data",
    "expired",
    "state_failed",
    "channel_state_failed",
)
