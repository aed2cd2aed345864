"""What an ordering core knows of records and unsent states, and the pass that releases them."""

from ckptsim.models.ordering.release.ledger import IdCounts as IdCounts
from ckptsim.models.ordering.release.ledger import Ledger as Ledger
from ckptsim.models.ordering.release.ledger import PendingState as PendingState
from ckptsim.models.ordering.release.ledger import Portion as Portion
from ckptsim.models.ordering.release.ledger import Readiness as Readiness
from ckptsim.models.ordering.release.ledger import Shelf as Shelf
from ckptsim.models.ordering.release.ledger import Shelves as Shelves
from ckptsim.models.ordering.release.releaser import Outgoing as Outgoing
from ckptsim.models.ordering.release.releaser import Releaser as Releaser
