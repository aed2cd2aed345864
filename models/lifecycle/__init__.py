"""Bounded jobs: EndOfData and its acknowledgement, final checkpoints, stop-with-savepoint.

The door: `TaskLifecycle` is the core of one task, `TaskParameters` how it is built. Events and
effects are in the modules of these names. `tables` holds the lifecycle tables that the core runs,
`rules` what its two variants do differently.
"""

from ckptsim.models.lifecycle.parameters import TaskParameters as TaskParameters
from ckptsim.models.lifecycle.rules import RULES as RULES
from ckptsim.models.lifecycle.rules import Rules as Rules
from ckptsim.models.lifecycle.states import EndMode as EndMode
from ckptsim.models.lifecycle.states import OperatorState as OperatorState
from ckptsim.models.lifecycle.states import StopMode as StopMode
from ckptsim.models.lifecycle.states import TaskKind as TaskKind
from ckptsim.models.lifecycle.states import TaskState as TaskState
from ckptsim.models.lifecycle.states import Variant as Variant
from ckptsim.models.lifecycle.task import TaskLifecycle as TaskLifecycle
from ckptsim.models.lifecycle.transactions import SinkState as SinkState
from ckptsim.models.lifecycle.transactions import Transactions as Transactions
from ckptsim.models.lifecycle.watermarks import FINAL_WATERMARK as FINAL_WATERMARK
from ckptsim.models.lifecycle.watermarks import NO_WATERMARK as NO_WATERMARK
from ckptsim.models.lifecycle.watermarks import WatermarkValve as WatermarkValve
