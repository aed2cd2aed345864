"""How the trace entries of a sync read, and the kinds of its calendar entries.

At one instant the smaller kind goes first. The order is a modelling choice for figures (arrivals
come before a timer fires). The random policies shuffle it.
"""

from __future__ import annotations

from ckptsim.sim.story import Telling, Vocabulary

_STATE = "scope index"

VOCABULARY: Vocabulary = {
    # The platform and the attempt.
    "attempt": Telling("starts attempt {number}", "number", always=True),
    "attempt_ended": Telling("attempt {number} ends: {reason}", "number reason", always=True),
    "crash": Telling("the {side} crashes {where}", "side where", always=True),
    "gave_up": Telling("gives up after attempt {number}", "number", always=True),
    "stored": Telling("keeps state {scope}/{index}", _STATE, ends="delivery:scope,index"),
    "state_unknown": Telling("refuses state {scope}/{index}, which it never saw", _STATE),
    "state_rejected": Telling("refuses state {scope}/{index}: counts differ", _STATE),
    "violated": Telling("property {name} does not hold: {says}", "name says"),
    # The source.
    "reader": Telling(
        "begins records {low} to {high} of {feed} under id {id} on socket {socket}",
        "feed low high id socket",
        begins="partition:id",
    ),
    "reader_ended": Telling("ends id {id}", "id", ends="partition:id"),
    "round_ended_early": Telling(
        "ends {feed}, with records from {low} on in no partition yet", "feed low", always=True
    ),
    "reader_failed": Telling("fails to read {feed}", "feed", always=True),
    "state": Telling(
        "makes state {scope}/{index} of id {id}", f"{_STATE} id", begins="way:scope,index"
    ),
    "drain": Telling("carries {count} queued messages through {to}", "count to"),
    # The destination.
    "read": Telling("delivers records {low} to {high} of id {id}", "stream low high id"),
    "complete_read": Telling("delivers COMPLETE of stream {stream}", "stream"),
    "socket_ended": Telling("ends"),
    "state_read": Telling(
        "reads state {scope}/{index} from socket {socket}",
        f"{_STATE} socket",
        begins="pending:scope,index",
        ends="way:scope,index",
    ),
    "refused": Telling("refuses an input: {kind}", "kind", always=True),
    "upload": Telling(
        "takes batch {batch} of stream {stream}, {count} records",
        "batch stream count",
        begins="upload:batch",
    ),
    "upload_failed": Telling("fails to take batch {batch}", "batch", ends="upload:batch"),
    "durable": Telling("has stored batch {batch}", "batch", ends="upload:batch"),
    "reported": Telling("counts {count} records of id {id} as durable", "stream id count"),
    "send": Telling(
        "sends state {scope}/{index}, send {number}",
        f"{_STATE} number",
        begins="send:scope,index delivery:scope,index",
    ),
    "sent": Telling(
        "hears that state {scope}/{index} has arrived", _STATE, ends="send:scope,index"
    ),
    "send_failed": Telling(
        "fails to send state {scope}/{index}",
        _STATE,
        ends="send:scope,index delivery:scope,index",
        always=True,
    ),
    "released": Telling("has released state {scope}/{index}", _STATE, ends="pending:scope,index"),
    "effect": Telling("{name}", "name"),
}


KIND_FAULT = 1
KIND_ARRIVE = 2
KIND_UPLOADED = 3
KIND_COMPLETE = 4
KIND_STORED = 5
KIND_SENT = 6
KIND_CHECKPOINT = 7
KIND_BATCH_TIMER = 8
KIND_HEARTBEAT = 9
KIND_POLL = 10
KIND_WATCH = 11
KIND_ATTEMPT = 12
