"""The rules of barrier handlers."""

from tests.rules.naive.handler.walks import handler_rules

__all__ = ["handler_rules"]
