"""Which interval of checkpoints costs least, from simulated runs and simulated failures."""

from ckptsim.sim.infer.advice.advice import RUNS_OF_A_POINT as RUNS_OF_A_POINT
from ckptsim.sim.infer.advice.advice import Advisor as Advisor
from ckptsim.sim.infer.advice.advice import around_the_least as around_the_least
from ckptsim.sim.infer.advice.advice import grid_s as grid_s
from ckptsim.sim.infer.advice.curve import SCATTER as SCATTER
from ckptsim.sim.infer.advice.curve import Failures as Failures
from ckptsim.sim.infer.advice.curve import Point as Point
from ckptsim.sim.infer.advice.curve import best_of as best_of
from ckptsim.sim.infer.advice.curve import daly_s as daly_s
from ckptsim.sim.infer.advice.curve import flat_s as flat_s
from ckptsim.sim.infer.advice.curve import frontier_of as frontier_of
from ckptsim.sim.infer.advice.curve import optimum_s as optimum_s
from ckptsim.sim.infer.advice.curve import shortest_s as shortest_s
from ckptsim.sim.infer.advice.curve import young_s as young_s
from ckptsim.sim.infer.advice.day import read_load as read_load
