"""The source of one attempt of a sync: feeds read by concurrent readers, and their states."""

from ckptsim.sim.sync.source.source import Source as Source
