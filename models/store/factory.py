"""Make the store of a placement, over the model medium."""

from __future__ import annotations

from ckptsim.models.store.client import StoreClient
from ckptsim.models.store.medium import ModelMedium
from ckptsim.models.store.settings import Placement
from ckptsim.models.store.versions import StoreVersions


def make_store(placement: Placement) -> StoreVersions:
    """Return a fresh client with its versions; its medium survives every crash."""
    medium = ModelMedium(atomic=placement is Placement.COLOCATED)
    return StoreVersions(StoreClient(placement, medium))
