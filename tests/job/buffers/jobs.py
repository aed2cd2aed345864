"""Jobs on buffers, made in Python with the defaults that link `barriers` has."""

from __future__ import annotations

from typing import Any

from ckptsim.scenarios.job import Job, NoRestart, Plane, Vertex


def on_buffers(*vertices: Vertex, **rest: Any) -> Job:
    """Return a job on buffers."""
    return Job(plane=Plane.BUFFERS, restart=NoRestart(), vertices=vertices, **rest)
