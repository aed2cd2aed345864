"""The state of a partition after a restart, and of a whole store version."""

from ckptsim.models.store.state.partition_state import NOTHING as NOTHING
from ckptsim.models.store.state.partition_state import SCHEMA_VERSION as SCHEMA_VERSION
from ckptsim.models.store.state.partition_state import PartitionState as PartitionState
from ckptsim.models.store.state.partition_state import ProducerState as ProducerState
from ckptsim.models.store.state.partition_state import decode_state as decode_state
from ckptsim.models.store.state.partition_state import encode_state as encode_state
from ckptsim.models.store.state.partition_state import position_of as position_of
from ckptsim.models.store.state.partition_state import read_fields as read_fields
from ckptsim.models.store.state.partition_state import write_fields as write_fields
from ckptsim.models.store.state.version_state import DICTIONARY_STRATEGY as DICTIONARY_STRATEGY
from ckptsim.models.store.state.version_state import WIRE_NAMES as WIRE_NAMES
from ckptsim.models.store.state.version_state import FieldValue as FieldValue
from ckptsim.models.store.state.version_state import SharedCopies as SharedCopies
from ckptsim.models.store.state.version_state import VersionCopy as VersionCopy
from ckptsim.models.store.state.version_state import VersionState as VersionState
from ckptsim.models.store.state.version_state import agreed as agreed
from ckptsim.models.store.state.version_state import copy_of as copy_of
from ckptsim.models.store.state.version_state import disagreement as disagreement
