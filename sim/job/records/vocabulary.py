"""How the trace of a job reads."""

from __future__ import annotations

from ckptsim.sim.story import Telling, Vocabulary

VOCABULARY: Vocabulary = {
    "triggered": Telling(
        "triggers checkpoint {index}, {kind}", "index kind", begins="checkpoint:index"
    ),
    "performed": Telling("takes its snapshot of checkpoint {index}", "index"),
    "acknowledged": Telling("has acknowledged checkpoint {index}", "index persisted state"),
    "declined": Telling("declines checkpoint {index}: {reason}", "index reason"),
    "completed": Telling(
        "completes checkpoint {index}", "index duration_ns", ends="checkpoint:index"
    ),
    "aborted": Telling(
        "gives checkpoint {index} up: {reason}", "index reason", ends="checkpoint:index"
    ),
    "precommitted": Telling(
        "pre-commits a transaction for checkpoint {index}; opens another: {successor}",
        "index successor",
    ),
    "dropped": Telling("aborts its transaction of checkpoint {which}", "which"),
    "left": Telling("leaves its transaction of checkpoint {index} pre-committed", "index"),
    "recommitted": Telling("commits {name} again, which its restored state has pending", "name"),
    "reaborted": Telling("aborts {name}, which its restored state has open", "name"),
    "unknown": Telling("leaves {name} to the external system: no restored state has it", "name"),
    "timed_out": Telling("loses {name}: the external system has waited too long", "name"),
    "committed": Telling("commits what checkpoint {index} pre-committed", "index"),
    "called": Telling("calls {what} of operator {operator}", "what operator"),
    "told": Telling("tells operator {operator}: {what} {number}", "what operator number"),
    "gate_ended": Telling("has come to the end of input {number}", "number"),
    "skipped": Telling("skips the trigger of checkpoint {index}: it comes too late", "index"),
    "ignored": Telling("drops the word of checkpoint {index}: it is behind {newer}", "index newer"),
    "task_state": Telling("is now {state}", "state"),
    "end_of_data_acknowledged": Telling("has its EndOfData acknowledged by {receiver}", "receiver"),
    "stalled": Telling("stands still for {lasts_ns} ns", "lasts_ns", always=True),
    "failed": Telling("fails: {cause}", "cause", always=True),
    "restored": Telling("restarts from checkpoint {index}", "index", always=True),
    "finished": Telling("has finished", always=True),
    "output": Telling("committed output of {sink} has digest {digest}", "sink digest"),
    "violated": Telling("property {name} does not hold: {says}", "name says", always=True),
}
