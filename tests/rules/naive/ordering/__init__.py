"""The rules of the ordering protocol."""

from tests.rules.naive.ordering.walks import OrderingRules

__all__ = ["OrderingRules"]
