"""Recordings of running jobs: answers of an engine's REST server in a folder, read as typed data.

A recording is a folder with `index.json`, the list of the answers in the order of the requests, and
one file per answer, byte for byte.  Nothing in it is trusted: a file that is missing, torn or of
another version is noted and left out.
"""

from ckptsim.sim.recording.answers import INDEX
from ckptsim.sim.recording.reader import read_recording
from ckptsim.sim.recording.recording import (
    CheckpointAnswer,
    Recording,
    Sample,
    SubtaskAnswer,
    SubtaskPart,
    VertexAnswer,
    VertexInput,
)

__all__ = [
    "INDEX",
    "CheckpointAnswer",
    "Recording",
    "Sample",
    "SubtaskAnswer",
    "SubtaskPart",
    "VertexAnswer",
    "VertexInput",
    "read_recording",
]
