"""A factory for `ckptsim conform --core`: the suite's client on real files instead of the model."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from ckptsim.models.store import Placement, StoreClient, StoreVersions
from ckptsim.sim.store.real.media import DATA_FILE, DuckMedium, real_medium
from ckptsim.sim.store.real.typed import TypedFile


def real_versions(placement: Placement) -> StoreVersions:
    """Build a client on real files in a temporary folder, which goes when the client does."""
    folder = Path(tempfile.mkdtemp(prefix="ckptsim-store-"))
    versions = StoreVersions(StoreClient(placement, real_medium(placement, folder)))
    weakref.finalize(versions, shutil.rmtree, folder, ignore_errors=True)
    return versions


def typed_versions(placement: Placement) -> StoreVersions:
    """Build a client with typed checkpoints, where they share the file with the data."""
    if placement is not Placement.COLOCATED:
        return real_versions(placement)
    folder = Path(tempfile.mkdtemp(prefix="ckptsim-store-"))
    medium = DuckMedium(folder / DATA_FILE, kind=TypedFile)
    versions = StoreVersions(StoreClient(placement, medium))
    weakref.finalize(versions, shutil.rmtree, folder, ignore_errors=True)
    return versions
