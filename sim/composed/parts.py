"""What a pipeline is put together from; a mutant replaces one part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ckptsim.models.lifecycle import TaskLifecycle, TaskParameters
from ckptsim.models.ordering import make_core
from ckptsim.models.store import ModelMedium
from ckptsim.sim.composed.committer import Committer
from ckptsim.sim.composed.destination import PipelineDestination
from ckptsim.sim.composed.sink import StoreSink


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a pipeline.

    checkpoint_first: commits write the checkpoint before the data, whatever the scenario says.
    two_steps: what shares one transaction is written as two.
    """

    core: Callable[..., Any] = make_core
    lifecycle: Callable[[TaskParameters], TaskLifecycle] = TaskLifecycle
    medium: type[ModelMedium] = ModelMedium
    committer: type[Committer] = Committer
    sink: type[StoreSink] = StoreSink
    destination: type[PipelineDestination] = PipelineDestination
    checkpoint_first: bool = False
    two_steps: bool = False
