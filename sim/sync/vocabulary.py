"""How the trace entries of a sync read."""

from __future__ import annotations

from sim.story import Telling, Vocabulary

VOCABULARY: Vocabulary = {
    "attempt": Telling("starts attempt {number}", "number", always=True),
    "attempt_ended": Telling("attempt {number} ends: {reason}", "number reason", always=True),
    "crash": Telling("the {side} crashes {where}", "side where", always=True),
    "gave_up": Telling("gives up after attempt {number}", "number", always=True),
    "reader": Telling(
        "a reader of {feed} begins records {low} to {high} under id {id}", "feed low high id"
    ),
    "reader_failed": Telling("a reader of {feed} fails", "feed"),
    "state": Telling(
        "makes state {scope}/{index} of id {id}", "scope index id", begins="way:scope,index"
    ),
    "drain": Telling("carries {count} queued messages", "count"),
    "read": Telling("records {low} to {high} of id {id} are read", "stream low high id"),
    "state_read": Telling("state {scope}/{index} is read", "scope index", ends="way:scope,index"),
    "complete_read": Telling("COMPLETE of stream {stream} is read", "stream"),
    "socket_ended": Telling("ends"),
    "refused": Telling("the core refuses an input: {kind}", "kind"),
    "upload": Telling(
        "uploads batch {batch} of stream {stream}, {count} records",
        "batch stream count",
        begins="upload:batch",
    ),
    "upload_failed": Telling("the upload of batch {batch} fails", "batch", ends="upload:batch"),
    "durable": Telling("batch {batch} is durable", "batch", ends="upload:batch"),
    "reported": Telling("{count} records of id {id} are reported durable", "stream id count"),
    "send": Telling(
        "sends state {scope}/{index}, send {number}",
        "scope index number",
        begins="send:scope,index delivery:scope,index",
    ),
    "stored": Telling("keeps state {scope}/{index}", "scope index", ends="delivery:scope,index"),
    "sent": Telling(
        "the send of state {scope}/{index} returns", "scope index", ends="send:scope,index"
    ),
    "send_failed": Telling(
        "the send of state {scope}/{index} fails",
        "scope index",
        ends="send:scope,index delivery:scope,index",
    ),
    "state_unknown": Telling("refuses state {scope}/{index}, which it never saw", "scope index"),
    "state_rejected": Telling("refuses state {scope}/{index}: counts differ", "scope index"),
    "effect": Telling("{name}", "name"),
    "violated": Telling("property {name} does not hold: {says}", "name says"),
}
