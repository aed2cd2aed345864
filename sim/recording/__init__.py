"""Recordings of running jobs: answers of an engine's REST server, read as typed data.

A recording is a folder with `index.json`, a folder of saved answers, an archive of the history
server, or a file of spans.  Nothing in it is trusted: the missing part, torn or of another version
is noted and left out.
"""

from ckptsim.sim.recording.answers import INDEX as INDEX
from ckptsim.sim.recording.answers import is_recording as is_recording
from ckptsim.sim.recording.answers import read_answers as read_answers
from ckptsim.sim.recording.reader import job_of as job_of
from ckptsim.sim.recording.reader import read_recording as read_recording
from ckptsim.sim.recording.recording import CheckpointAnswer as CheckpointAnswer
from ckptsim.sim.recording.recording import Recording as Recording
from ckptsim.sim.recording.recording import Sample as Sample
from ckptsim.sim.recording.recording import SubtaskAnswer as SubtaskAnswer
from ckptsim.sim.recording.recording import SubtaskPart as SubtaskPart
from ckptsim.sim.recording.recording import VertexAnswer as VertexAnswer
from ckptsim.sim.recording.recording import VertexInput as VertexInput
