"""What can be wrong with the files of a real store, as errors that a user can act upon."""

from __future__ import annotations

from ckptsim.scenarios.errors import UserError


class StoreFileError(UserError):
    """The files of a store cannot be used as they are. The message says which and why."""


class StoreDamagedError(StoreFileError):
    """A file or its write-ahead log is damaged, or an instance failed beyond repair.

    Everything that was acknowledged up to the damage may still be there. Nothing is repaired
    silently.
    """


class StoreLockedError(StoreFileError):
    """Another process has the file open: a store has one writer."""


class StoreFormatError(StoreFileError):
    """The file was written by a program with an unknown format."""


class StoreMismatchError(StoreFileError):
    """Data and checkpoints are not of the same store: one of the two was lost or replaced."""
