"""Kinds of simultaneous events, in the order in which a run without shuffling takes them."""

from __future__ import annotations

KIND_DURABLE = 1  # a durable step ends
KIND_APPLIED = 2  # a run of records has been applied
KIND_TIMER = 3
KIND_OUTSIDE = 4  # broker, other parties, endpoints
KIND_FAULT = 5
KIND_START = 6
