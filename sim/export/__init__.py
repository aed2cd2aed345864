"""Pictures of a trace for viewers that exist: Perfetto, Mermaid, ShiViz."""

from __future__ import annotations

from collections.abc import Sequence

from ckptsim.scenarios import Scenario
from ckptsim.sim.export import diagrams, perfetto
from ckptsim.sim.export.diagrams import messages
from ckptsim.sim.kernel import Entry
from ckptsim.sim.rows import RunResult
from ckptsim.sim.story import Vocabulary, tell

STORY = "story.txt"


def pictures(
    entries: Sequence[Entry], vocabulary: Vocabulary, scenario: Scenario, result: RunResult
) -> dict[str, str]:
    """Return file name -> text: the story and the files of three viewers. entries: of the story."""
    sent = messages(entries, scenario)
    return {
        STORY: "".join(f"{line}\n" for line in tell(entries, vocabulary)),
        "trace.perfetto.json": perfetto.document(entries, vocabulary, result.checkpoints, sent),
        "sequence.mmd": diagrams.diagram(entries, vocabulary, sent),
        "shiviz.log": diagrams.log(entries, vocabulary, sent),
    }
