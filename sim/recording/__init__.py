"""Recordings of running jobs: answers of an engine's REST server in a folder, read as typed data.

A recording is a folder with `index.json`, the list of the answers in the order in which they were
asked for, and one file per answer, byte for byte what the server said.  Nothing in it is trusted:
a file that is missing, torn or of another version is noted and left out.
"""

from ckptsim.sim.recording.answers import INDEX as INDEX
from ckptsim.sim.recording.reader import read_recording as read_recording
from ckptsim.sim.recording.recording import CheckpointAnswer as CheckpointAnswer
from ckptsim.sim.recording.recording import Recording as Recording
from ckptsim.sim.recording.recording import SubtaskAnswer as SubtaskAnswer
from ckptsim.sim.recording.recording import SubtaskPart as SubtaskPart
from ckptsim.sim.recording.recording import VertexAnswer as VertexAnswer
from ckptsim.sim.recording.recording import VertexInput as VertexInput
