"""How the trace entries of a job on buffers read."""

from __future__ import annotations

from ckptsim.sim.story import Telling, Vocabulary

VOCABULARY: Vocabulary = {
    "triggered": Telling(
        says="triggers checkpoint {index} ({kind})",
        fields="index kind",
        begins="checkpoint:index",
    ),
    "barrier": Telling(
        says="takes the barrier of checkpoint {index} from channel {channel} ({kind})",
        fields="index channel kind",
    ),
    "announced": Telling(
        says="hears that the barrier of checkpoint {index} stands in channel {channel}",
        fields="index channel",
    ),
    "cancelled": Telling(
        says="hears from channel {channel} that no barrier of checkpoint {index} comes",
        fields="index channel",
    ),
    "sent_barrier": Telling(
        says="sends the barrier of checkpoint {index}, {overtaken} buffers overtaken",
        fields="index overtaken",
    ),
    "snapshot": Telling(
        says="takes its snapshot of checkpoint {index} after {records} records",
        fields="index records start_delay_ns unaligned",
        begins="upload:index,here",
    ),
    "aligned": Telling(
        says="has aligned checkpoint {index} in {duration_ns} ns, {bytes} bytes meanwhile",
        fields="index duration_ns bytes",
    ),
    "acknowledged": Telling(
        says="has acknowledged checkpoint {index}: {persisted} bytes in flight, {state} of state",
        fields="index persisted state",
        ends="upload:index,here",
    ),
    "declined": Telling(says="declines checkpoint {index}: {reason}", fields="index reason"),
    "completed": Telling(
        says="completes checkpoint {index} after {duration_ns} ns",
        fields="index duration_ns",
        ends="checkpoint:index",
    ),
    "aborted": Telling(
        says="gives checkpoint {index} up: {reason}",
        fields="index reason",
        ends="checkpoint:index",
    ),
    "task_state": Telling(says="is {state}", fields="state"),
    "finished": Telling(says="has finished"),
    "failed": Telling(says="fails: {cause}", fields="cause", always=True),
    "restored": Telling("restarts from checkpoint {index}", "index", always=True),
    "stalled": Telling("stands still for {lasts_ns} ns", "lasts_ns", always=True),
    "violated": Telling("property {name} does not hold: {says}", "name says", always=True),
}
