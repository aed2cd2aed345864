"""Real checkpoint stores on files: DuckDB alone, DuckDB beside SQLite, and their inspection."""

from ckptsim.sim.store.real.arguments import checked_path
from ckptsim.sim.store.real.embedded import EmbeddedStore
from ckptsim.sim.store.real.errors import (
    StoreDamagedError,
    StoreFileError,
    StoreFormatError,
    StoreLockedError,
    StoreMismatchError,
)
from ckptsim.sim.store.real.media import DuckMedium, real_medium
from ckptsim.sim.store.real.runs import RunStore, inspect_store

__all__ = [
    "DuckMedium",
    "EmbeddedStore",
    "RunStore",
    "StoreDamagedError",
    "StoreFileError",
    "StoreFormatError",
    "StoreLockedError",
    "StoreMismatchError",
    "checked_path",
    "inspect_store",
    "real_medium",
]
