"""The process around the client of a store: threads that drain, sync and die together."""

from ckptsim.sim.store.process.drainer import Drainer as Drainer
from ckptsim.sim.store.process.endpoint import Endpoint as Endpoint
from ckptsim.sim.store.process.owners import Owners as Owners
from ckptsim.sim.store.process.process import ProcessHost as ProcessHost
from ckptsim.sim.store.process.release import Releases as Releases
from ckptsim.sim.store.process.syncing import Steps as Steps
from ckptsim.sim.store.process.syncing import Threads as Threads
