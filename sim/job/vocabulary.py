"""How the trace of a job reads on either data plane."""

from __future__ import annotations

from ckptsim.sim.story import Telling, Vocabulary

CONTROL: Vocabulary = {
    "triggered": Telling(
        "triggers checkpoint {index}, {kind}", "index kind", begins="checkpoint:index"
    ),
    "declined": Telling("declines checkpoint {index}: {reason}", "index reason"),
    "aborted": Telling(
        "gives checkpoint {index} up: {reason}", "index reason", ends="checkpoint:index"
    ),
    "precommitted": Telling(
        "pre-commits a transaction for checkpoint {index}; opens another: {successor}",
        "index successor",
    ),
    "committed": Telling("commits what checkpoint {index} pre-committed", "index"),
    "dropped": Telling("aborts its transaction of checkpoint {which}", "which"),
    "left": Telling("leaves its transaction of checkpoint {index} pre-committed", "index"),
    "recommitted": Telling("commits {name} again, which its restored state has pending", "name"),
    "reaborted": Telling("aborts {name}, which its restored state has open", "name"),
    "unknown": Telling("leaves {name} to the external system: no restored state has it", "name"),
    "timed_out": Telling("loses {name}: the external system has waited too long", "name"),
    "called": Telling("calls {what} of operator {operator}", "what operator"),
    "told": Telling("tells operator {operator}: {what} {number}", "what operator number"),
    "gate_ended": Telling("has come to the end of input {number}", "number"),
    "task_state": Telling("is now {state}", "state"),
    "finished": Telling("has finished", always=True),
    "canceled": Telling("is cancelled by its user", always=True),
    "failed": Telling("fails: {cause}", "cause", always=True),
    "restored": Telling("restarts from checkpoint {index}", "index", always=True),
    "stalled": Telling("does nothing for {lasts_ns} ns", "lasts_ns", always=True),
    "violated": Telling("property {name} does not hold: {says}", "name says", always=True),
}
