"""The rules of recovery: strategies and failovers, what is read back, and without barriers."""

from tests.rules.naive.recovery.persistence import CreditRules, LogRules
from tests.rules.naive.recovery.restart import (
    DetectionRules,
    FailoverRules,
    RestartRules,
    StrategyMaker,
    StrategyRules,
    drawn_strategy,
)
from tests.rules.naive.recovery.restoring import RecoveredInputRules, RestoreRules, drawn_gate
from tests.rules.naive.recovery.uncoordinated import LineRules, TaskRules, drawn_line

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
