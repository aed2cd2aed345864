"""Pipelines as frozen data: their model, their faults, their properties and goals."""

from ckptsim.scenarios.composed.faults import COMPOSED_FAULTS as COMPOSED_FAULTS
from ckptsim.scenarios.composed.faults import JOB_KINDS as JOB_KINDS
from ckptsim.scenarios.composed.faults import SYNC_KINDS as SYNC_KINDS
from ckptsim.scenarios.composed.faults import ComposedFault as ComposedFault
from ckptsim.scenarios.composed.faults import CrashInCommit as CrashInCommit
from ckptsim.scenarios.composed.faults import DelayReport as DelayReport
from ckptsim.scenarios.composed.faults import ForeignCommit as ForeignCommit
from ckptsim.scenarios.composed.faults import LoseStore as LoseStore
from ckptsim.scenarios.composed.faults import Lost as Lost
from ckptsim.scenarios.composed.faults import RefuseCommits as RefuseCommits
from ckptsim.scenarios.composed.faults import SlowStore as SlowStore
from ckptsim.scenarios.composed.model import READERS as READERS
from ckptsim.scenarios.composed.model import SINK as SINK
from ckptsim.scenarios.composed.model import OffsetReset as OffsetReset
from ckptsim.scenarios.composed.model import Pipeline as Pipeline
from ckptsim.scenarios.composed.model import Placement as Placement
from ckptsim.scenarios.composed.model import StepOrder as StepOrder
from ckptsim.scenarios.composed.model import Writes as Writes
from ckptsim.scenarios.composed.names import GOALS as GOALS
from ckptsim.scenarios.composed.names import OWN_PROPERTIES as OWN_PROPERTIES
from ckptsim.scenarios.composed.names import PROPERTIES as PROPERTIES
