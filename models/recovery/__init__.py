"""Recovery: failures noticed, restarts, failovers, and who takes which state.

* `FailureDetector`, `RestartStrategy`, `Failover` and `TaskRestore` take events and answer with
  effects. These are in the modules `detection`, `restart`, `failover` and `restore`.
* `mapping`, `key_groups` and `operator_state` say which subtask takes which key groups, in-flight
  data and operator state. `InFlightAssignment` (module `in_flight`) applies it to the channels of a
  job, and `RecoveredInput` (`recovered_input`) takes in-flight data over on an input gate.
"""

from ckptsim.models.recovery.in_flight import ConnectionDescriptor as ConnectionDescriptor
from ckptsim.models.recovery.in_flight import Exchange as Exchange
from ckptsim.models.recovery.in_flight import InFlightAssignment as InFlightAssignment
from ckptsim.models.recovery.in_flight import recovered_data as recovered_data
from ckptsim.models.recovery.in_flight import whole_channels as whole_channels
from ckptsim.models.recovery.key_groups import MAX_PARALLELISM as MAX_PARALLELISM
from ckptsim.models.recovery.key_groups import default_max_parallelism as default_max_parallelism
from ckptsim.models.recovery.key_groups import key_group as key_group
from ckptsim.models.recovery.key_groups import key_group_range as key_group_range
from ckptsim.models.recovery.key_groups import murmur_hash as murmur_hash
from ckptsim.models.recovery.key_groups import operator_of_key_group as operator_of_key_group
from ckptsim.models.recovery.key_groups import string_hash as string_hash
from ckptsim.models.recovery.mapping import DISTRIBUTIONS as DISTRIBUTIONS
from ckptsim.models.recovery.mapping import Distribution as Distribution
from ckptsim.models.recovery.mapping import GateAssignment as GateAssignment
from ckptsim.models.recovery.mapping import Mapper as Mapper
from ckptsim.models.recovery.mapping import Partitioner as Partitioner
from ckptsim.models.recovery.mapping import ambiguous_subtasks as ambiguous_subtasks
from ckptsim.models.recovery.mapping import assign_gate as assign_gate
from ckptsim.models.recovery.mapping import inverted as inverted
from ckptsim.models.recovery.mapping import is_identity as is_identity
from ckptsim.models.recovery.mapping import mapping_of as mapping_of
from ckptsim.models.recovery.mapping import old_subtasks as old_subtasks
from ckptsim.models.recovery.operator_state import broadcast as broadcast
from ckptsim.models.recovery.operator_state import split as split
from ckptsim.models.recovery.records import RecordDeserializer as RecordDeserializer
from ckptsim.models.recovery.records import RecordPart as RecordPart
from ckptsim.models.recovery.records import parts_of as parts_of
from ckptsim.models.recovery.recovered_input import RecoveredInput as RecoveredInput
