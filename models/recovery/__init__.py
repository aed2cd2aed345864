"""Recovery: failures noticed, restarts, failovers, and who takes which state.

* `FailureDetector`, `RestartStrategy`, `Failover` and `TaskRestore` take events and answer with
  effects. These are in the modules `detection`, `restart`, `failover` and `restore`.
* `mapping`, `key_groups` and `operator_state` say which subtask takes which key groups, in-flight
  data and operator state. `InFlightAssignment` (module `in_flight`) applies it to the channels of a
  job, and `RecoveredInput` (`recovered_input`) takes in-flight data over on an input gate.
"""

from ckptsim.models.recovery.in_flight import (
    ConnectionDescriptor,
    Exchange,
    InFlightAssignment,
    recovered_data,
    whole_channels,
)
from ckptsim.models.recovery.key_groups import (
    MAX_PARALLELISM,
    default_max_parallelism,
    key_group,
    key_group_range,
    murmur_hash,
    operator_of_key_group,
    string_hash,
)
from ckptsim.models.recovery.mapping import (
    DISTRIBUTIONS,
    Distribution,
    GateAssignment,
    Mapper,
    Partitioner,
    ambiguous_subtasks,
    assign_gate,
    inverted,
    is_identity,
    mapping_of,
    old_subtasks,
)
from ckptsim.models.recovery.operator_state import broadcast, split
from ckptsim.models.recovery.records import RecordDeserializer, RecordPart, parts_of
from ckptsim.models.recovery.recovered_input import RecoveredInput

__all__ = [
    "DISTRIBUTIONS",
    "MAX_PARALLELISM",
    "ConnectionDescriptor",
    "Distribution",
    "Exchange",
    "GateAssignment",
    "InFlightAssignment",
    "Mapper",
    "Partitioner",
    "RecordDeserializer",
    "RecordPart",
    "RecoveredInput",
    "ambiguous_subtasks",
    "assign_gate",
    "broadcast",
    "default_max_parallelism",
    "inverted",
    "is_identity",
    "key_group",
    "key_group_range",
    "mapping_of",
    "murmur_hash",
    "old_subtasks",
    "operator_of_key_group",
    "parts_of",
    "recovered_data",
    "split",
    "string_hash",
    "whole_channels",
]
