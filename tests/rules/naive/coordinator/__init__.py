"""The rules of a checkpoint coordinator."""

from tests.rules.naive.coordinator.walks import CoordinatorRules, drawn_parameters

__all__ = ["CoordinatorRules", "drawn_parameters"]
