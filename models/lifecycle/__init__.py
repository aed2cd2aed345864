"""Bounded jobs: EndOfData and its acknowledgement, final checkpoints, stop-with-savepoint.

The door: `TaskLifecycle` is the core of one task, `TaskParameters` how it is built; events and
effects are in the modules of these names; `tables` holds the lifecycle tables that the core runs,
`rules` what its two variants do differently.
"""

from models.lifecycle.parameters import TaskParameters
from models.lifecycle.rules import RULES, Rules
from models.lifecycle.states import (
    EndMode,
    OperatorState,
    StopMode,
    TaskKind,
    TaskState,
    Variant,
)
from models.lifecycle.task import TaskLifecycle
from models.lifecycle.transactions import SinkState, Transactions

__all__ = [
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
]
