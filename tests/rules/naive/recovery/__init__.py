"""The rules of recovery: strategies and failovers, what is read back, and without barriers."""

from ckptsim.sim.rules.recovery.persistence import CreditRules, LogRules
from ckptsim.sim.rules.recovery.restart import (
    DetectionRules,
    FailoverRules,
    RestartRules,
    StrategyMaker,
    StrategyRules,
    drawn_strategy,
)
from ckptsim.sim.rules.recovery.restoring import RecoveredInputRules, RestoreRules, drawn_gate
from ckptsim.sim.rules.recovery.uncoordinated import LineRules, TaskRules, drawn_line

__all__ = [
    "CreditRules",
    "DetectionRules",
    "FailoverRules",
    "LineRules",
    "LogRules",
    "RecoveredInputRules",
    "RestartRules",
    "RestoreRules",
    "StrategyMaker",
    "StrategyRules",
    "TaskRules",
    "drawn_gate",
    "drawn_line",
    "drawn_strategy",
]
