"""Fixtures of the searching tests."""

from tests.search.toy import toy

__all__ = ["toy"]
