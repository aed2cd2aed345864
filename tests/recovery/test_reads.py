"""Reads of channel-state files: who opens how many, and what stands next to each other."""

from __future__ import annotations

import pytest

from ckptsim.models.core import ProtocolError
from ckptsim.models.recovery.persistence import Files, Handle

# Two senders and two receivers, all to all: a file per vertex, with outputs (sender, receiver) and
# inputs (receiver, sender).
SENDERS = [("output", 0, 0), ("output", 0, 1), ("output", 1, 0), ("output", 1, 1)]
RECEIVERS = [("input", 0, 0), ("input", 0, 1), ("input", 1, 0), ("input", 1, 1)]
FILES = Files([SENDERS, RECEIVERS])


def test_a_handle_names_the_file_and_the_place() -> None:
    """What was not written has no handle."""
    assert FILES.handle(("output", 1, 0)) == Handle(0, 2)
    assert FILES.handle(("input", 0, 1)) == Handle(1, 1)
    assert FILES.handle(("input", 2, 0)) is None


def test_each_end_reads_its_own_in_one_piece() -> None:
    """Where both ends of a channel are handled by their tasks, each opens one file once."""
    assert FILES.reads(SENDERS[:2]) == FILES.reads(SENDERS[2:]) == (1, 1)
    assert FILES.reads(RECEIVERS[2:]) == (1, 1)


def test_a_receiver_of_both_ends_reads_a_small_piece_of_every_sender() -> None:
    """What its senders had for it lies apart, between what they had for others."""
    assert FILES.reads([*RECEIVERS[:2], ("output", 0, 0), ("output", 1, 0)]) == (2, 3)


@pytest.mark.parametrize("parallelism", [2, 4, 8])
def test_small_reads_grow_with_the_product_of_the_parallelisms(parallelism: int) -> None:
    """All senders share a file: n receivers of both ends make n pieces each, senders one each."""
    every = range(parallelism)
    files = Files([[(sender, receiver) for sender in every for receiver in every]])
    own = [files.reads([(sender, other) for other in every]) for sender in every]
    theirs = [files.reads([(sender, receiver) for sender in every]) for receiver in every]
    assert own == [(1, 1)] * parallelism
    assert theirs == [(1, parallelism)] * parallelism


def test_one_file_has_many_readers() -> None:
    """Several new subtasks can take over the same chunk, and each reads it."""
    chunk = ("input", 0, 0)
    assert [FILES.reads([chunk]) for _ in range(3)] == [(1, 1)] * 3
    assert FILES.reads([chunk, chunk]) == (1, 1)  # by one reader it is read once


def test_a_chunk_is_written_once() -> None:
    """Two places for one chunk are refused."""
    with pytest.raises(ProtocolError, match="written_twice"):
        Files([["a", "b"], ["a"]])
