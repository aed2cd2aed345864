"""How the trace entries of a checkpoint store read, and which of simultaneous ones goes first."""

from __future__ import annotations

from ckptsim.sim.story import Telling, Vocabulary

KIND_DURABLE = 1  # a durable step ends
KIND_APPLIED = 2  # a run of records has been applied
KIND_TIMER = 3
KIND_OUTSIDE = 4  # broker, other parties, endpoints
KIND_FAULT = 5
KIND_START = 6


VOCABULARY: Vocabulary = {
    "started": Telling("starts, for the {number}. time", "number", always=True),
    "opened": Telling("opens {scope} behind position {position}", "scope position"),
    "crashed": Telling("dies: {reason}", "reason", always=True),
    "source_switched": Telling("consumes the {log} log from now on", "log", always=True),
    "source_subscribed": Telling(
        "subscribes to the {log} log after {position}", "log position", always=True
    ),
    "taken_over": Telling(
        "is taken for dead and replaced, but owner {number} lives on", "number", always=True
    ),
    "late_write": Telling(
        "owner {number} writes {what} of {scope} up to position {position}: the store {outcome}",
        "number what scope position outcome",
        always=True,
    ),
    "released": Telling(
        "is another release now, of a newer schema: {newer}, with its checkpoints in {slot}",
        "newer slot",
        always=True,
    ),
    "stopping": Telling("stops gracefully: {reason}", "reason", always=True),
    "lost": Telling("comes back without its {what}", "what", always=True),
    "refused": Telling("refuses to open {scope}: {reason}", "scope reason", always=True),
    "rebootstrap": Telling("starts {scope} from scratch, wiped: {wipe}", "scope wipe", always=True),
    "sync": Telling(
        "begins sync {index} of {scope} up to position {position} ({cause})",
        "index scope position cause",
        begins="sync:index",
    ),
    "synced": Telling("has synced {scope}, sync {index}", "index scope", ends="sync:index"),
    "sync_failed": Telling("fails sync {index} of {scope}", "index scope", ends="sync:index"),
    "sync_aborted": Telling("loses sync {index} of {scope}", "index scope", ends="sync:index"),
    "control": Telling("reads {control} at position {position}", "control position"),
    "frozen": Telling("{scope} is errored, {refusal}: {reason}", "scope refusal reason"),
    "swapped": Telling("makes version {version} the current one", "version", always=True),
    "dropped": Telling("drops version {version}", "version", always=True),
    "fetched": Telling("answers client {number}, which has its dictionary", "number"),
    "transferred": Telling("gives {scope} the files of a peer in another region", "scope"),
    "tampered": Telling("flips a bit of the checkpoint of {scope}", "scope", always=True),
    "damaged": Telling("damages the checkpoint of {scope}: {damage}", "scope damage", always=True),
    "foreign_commit": Telling(
        "commits position {position} for {scope}, which is not its own",
        "scope position",
        always=True,
    ),
    "truncated": Telling("cuts the log of {scope} to position {position}", "scope position"),
    "violated": Telling("property {name} does not hold: {says}", "name says"),
}
