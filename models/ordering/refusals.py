"""The closed set of refusals: each names the one rule that an input broke."""

from __future__ import annotations

from enum import StrEnum


class Refusal(StrEnum):
    """Why an input is refused, or why a sync cannot end well."""

    UNKNOWN_STREAM = "unknown_stream"
    MISSING_PARTITION_ID = "missing_partition_id"
    MISSING_CHECKPOINT_KEY = "missing_checkpoint_key"
    MISSING_SOURCE_STATS = "missing_source_stats"
    MIXED_STATE_TYPES = "mixed_state_types"
    INVALID_INDEX = "invalid_index"
    DUPLICATE_INDEX = "duplicate_index"
    STALE_INDEX = "stale_index"
    DUPLICATE_ID = "duplicate_id"
    OVER_COUNT = "over_count"
    ORDINAL_MISMATCH = "ordinal_mismatch"
    STREAM_CLOSED = "stream_closed"
    ALREADY_CLOSED = "already_closed"
    NOT_CLOSED = "not_closed"
    # Verdicts of the end of a sync and of a send; they come as effects, not as exceptions.
    INCOMPLETE_STREAMS = "incomplete_streams"
    UNFLUSHED_STATES = "unflushed_states"
    SEND_FAILED = "send_failed"
    # The source side.
    READER_FAILED = "reader_failed"
    UNKNOWN_READER = "unknown_reader"
    READER_ENDED = "reader_ended"
    ROUND_UNDER_WAY = "round_under_way"
    # What no protocol message can cause: mistakes of the host.
    INVALID_COUNT = "invalid_count"
    UNKNOWN_CHANNEL = "unknown_channel"
    UNEXPECTED_SEND_RESULT = "unexpected_send_result"
    ALREADY_FINISHING = "already_finishing"
