"""The state of a partition after a restart, and of a whole store version."""

from ckptsim.models.store.state.partition_state import (
    NOTHING,
    SCHEMA_VERSION,
    PartitionState,
    ProducerState,
    decode_state,
    encode_state,
    position_of,
    read_fields,
    write_fields,
)
from ckptsim.models.store.state.version_state import (
    DICTIONARY_STRATEGY,
    WIRE_NAMES,
    FieldValue,
    VersionCopy,
    VersionState,
    agreed,
    copy_of,
    disagreement,
)

__all__ = [
    "DICTIONARY_STRATEGY",
    "NOTHING",
    "SCHEMA_VERSION",
    "WIRE_NAMES",
    "FieldValue",
    "PartitionState",
    "ProducerState",
    "VersionCopy",
    "VersionState",
    "agreed",
    "copy_of",
    "decode_state",
    "disagreement",
    "encode_state",
    "position_of",
    "read_fields",
    "write_fields",
]
