"""What an ordering core knows of records and unsent states, and the pass that releases them."""

from ckptsim.models.ordering.release.ledger import IdCounts, Ledger
from ckptsim.models.ordering.release.readiness import Portion, Readiness
from ckptsim.models.ordering.release.releaser import Outgoing, Releaser
from ckptsim.models.ordering.release.shelves import PendingState, Shelf, Shelves

__all__ = [
    "IdCounts",
    "Ledger",
    "Outgoing",
    "PendingState",
    "Portion",
    "Readiness",
    "Releaser",
    "Shelf",
    "Shelves",
]
