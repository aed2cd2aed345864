"""A factory for `ckptsim conform --core`: the suite's client on real files instead of the model."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from ckptsim.models.store import Placement, StoreClient, StoreVersions
from ckptsim.sim.store.real.media import real_medium


def real_versions(placement: Placement) -> StoreVersions:
    """Build a client on real files in a temporary folder, which goes when the client does."""
    folder = Path(tempfile.mkdtemp(prefix="ckptsim-store-"))
    versions = StoreVersions(StoreClient(placement, real_medium(placement, folder)))
    weakref.finalize(versions, shutil.rmtree, folder, ignore_errors=True)
    return versions
