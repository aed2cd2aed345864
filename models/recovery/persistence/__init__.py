"""Ways to keep in-flight data that FLIP-76 argues about, besides the one that Apache Flink has."""

from ckptsim.models.recovery.persistence.credit import LentCredit as LentCredit
from ckptsim.models.recovery.persistence.indices import SubtaskIndices as SubtaskIndices
from ckptsim.models.recovery.persistence.indices import Succession as Succession
from ckptsim.models.recovery.persistence.indices import succession as succession
from ckptsim.models.recovery.persistence.log import ChannelLog as ChannelLog
from ckptsim.models.recovery.persistence.log import Logged as Logged
from ckptsim.models.recovery.persistence.log import LogPosition as LogPosition
from ckptsim.models.recovery.persistence.log import LogService as LogService
from ckptsim.models.recovery.persistence.log import LogSlice as LogSlice
from ckptsim.models.recovery.persistence.log import ReplayRule as ReplayRule
from ckptsim.models.recovery.persistence.log import first_needed as first_needed
from ckptsim.models.recovery.persistence.log import replayed as replayed
from ckptsim.models.recovery.persistence.ordered import OrderedEdges as OrderedEdges
from ckptsim.models.recovery.persistence.ordered import RescalingScope as RescalingScope
from ckptsim.models.recovery.persistence.ordered import distribution_of as distribution_of
from ckptsim.models.recovery.persistence.ordered import may_rescale as may_rescale
from ckptsim.models.recovery.persistence.reads import Files as Files
