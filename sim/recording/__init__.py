"""Recordings of running jobs: answers of an engine's REST server, read as typed data.

A recording is a folder with `index.json`, a folder of saved answers, an archive of the history
server, or a file of spans.  Nothing in it is trusted: what is missing, torn or of another version
is noted and left out.
"""

from ckptsim.sim.recording.answers import INDEX, is_recording, read_answers
from ckptsim.sim.recording.reader import job_of, read_recording
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
    "is_recording",
    "job_of",
    "read_answers",
    "read_recording",
]
