"""Bounded jobs: EndOfData and its acknowledgement, final checkpoints, stop-with-savepoint.

The door: `TaskLifecycle` is the core of one task, `TaskParameters` how it is built. Events and
effects are in the modules of these names. `tables` holds the lifecycle tables that the core runs,
`rules` what its two variants do differently.
"""

from ckptsim.models.lifecycle.parameters import TaskParameters
from ckptsim.models.lifecycle.rules import RULES, Rules
from ckptsim.models.lifecycle.states import (
    EndMode,
    OperatorState,
    StopMode,
    TaskKind,
    TaskState,
    Variant,
)
from ckptsim.models.lifecycle.task import TaskLifecycle
from ckptsim.models.lifecycle.transactions import SinkState, Transactions
from ckptsim.models.lifecycle.watermarks import FINAL_WATERMARK, NO_WATERMARK, WatermarkValve

__all__ = [
    "FINAL_WATERMARK",
    "NO_WATERMARK",
    "RULES",
    "EndMode",
    "OperatorState",
    "Rules",
    "SinkState",
    "StopMode",
    "TaskKind",
    "TaskLifecycle",
    "TaskParameters",
    "TaskState",
    "Transactions",
    "Variant",
    "WatermarkValve",
]
