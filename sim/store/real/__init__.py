"""Real checkpoint stores on files: DuckDB alone, DuckDB beside SQLite, and their inspection."""

from ckptsim.sim.store.real.arguments import checked_path as checked_path
from ckptsim.sim.store.real.embedded import EmbeddedStore as EmbeddedStore
from ckptsim.sim.store.real.errors import StoreDamagedError as StoreDamagedError
from ckptsim.sim.store.real.errors import StoreFileError as StoreFileError
from ckptsim.sim.store.real.errors import StoreFormatError as StoreFormatError
from ckptsim.sim.store.real.errors import StoreLockedError as StoreLockedError
from ckptsim.sim.store.real.errors import StoreMismatchError as StoreMismatchError
from ckptsim.sim.store.real.media import DuckMedium as DuckMedium
from ckptsim.sim.store.real.media import real_medium as real_medium
from ckptsim.sim.store.real.runs import RunStore as RunStore
from ckptsim.sim.store.real.runs import inspect_store as inspect_store
