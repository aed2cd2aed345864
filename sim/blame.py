"""Whom an exception is put down to that comes out of a run.

A core may raise ProtocolError for an event that its rules refuse, and nothing else. What it answers
must be effects.  Anything else that a core raises, or that a host raises because of what a core
answered, breaks a property of the core, be it ours or someone else's. Everything that is raised
without a core on the way is a fault of this program.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from traceback import extract_tb
from types import FrameType
from typing import Any

from ckptsim import models
from ckptsim.sim.kernel import Environment
from ckptsim.sim.rows import RunResult
from ckptsim.sim.run_spec import RunSpec
from ckptsim.sim.slots import Factory
from ckptsim.sim.slots.guest import CORE_ANSWERS
from ckptsim.sim.slots.process import CoreFailedError, CoreSilentError

# The property that is violated when a core raises what no core may raise. CORE_ANSWERS is the one
# that is violated when it ends or splits the process, or does not come back.
CORE_RAISED = "the_core_raises_protocol_errors_only"
OUTCOME_RAISED = "error"
_LINES = 4
_MODELS = str(Path(models.__file__).parent.resolve())


def raised_by_core(
    spec: RunSpec,
    factories: Mapping[str, Factory],
    error: BaseException,
    *,
    fault: str | None = None,
) -> RunResult | None:
    """Return the result of a run that an exception ended, or None where no core has to do with it.

    Of user cores it is the one with its module on the exception's way. Where none is, because a
    world could not use what a core gave it, all of them are named.  The digest is the one of what
    happened until then.  fault: in which way a core has not answered.
    """
    found = _blamed(spec, factories, error, fault)
    if found is None:
        return None
    if isinstance(error, CoreSilentError):
        fault, found = str(error), f"{_name(spec, error.slot)}: {error}"
    name = CORE_RAISED if fault is None else CORE_ANSWERS
    env = spec.environments[-1] if spec.environments else Environment(spec.seed)
    text = f"{type(error).__name__}: {error}"
    result = spec.result(env, outcome=OUTCOME_RAISED, error=text)
    at = next((f", at {_short(event)}" for event in _events(error)), "")
    says = f"{found}{at}" if fault else f"{found} {text}{at}"
    if env.trace.count:
        # Without the exception's text, which another Python may word in another way.
        short = f"{found} {type(error).__name__}"
        env.trace.record("violated", env.entity("oracle"), name, short)
        result.trace = env.trace.entries if spec.keep_trace else []
    where = [f"{'':>14}  {line}" for line in _where(error)]
    result.violations.append(spec.violation(name, env.now, says, story=where))
    return result


def _blamed(
    spec: RunSpec, factories: Mapping[str, Factory], error: BaseException, fault: str | None
) -> str | None:
    """Say who raised, or made a run raise. None where it is no core."""
    if fault is not None:
        found = [slot for slot, made in factories.items() if _is_on_the_way(made, error)]
        return f"{', '.join(_name(spec, slot) for slot in found or factories)} {fault}"
    if isinstance(error, CoreFailedError):
        return f"{_name(spec, error.slot)} raised"
    found = [slot for slot, made in factories.items() if _is_on_the_way(made, error)]
    if found:
        return f"{', '.join(_name(spec, slot) for slot in found)} raised"
    if factories:
        return f"{', '.join(_name(spec, slot) for slot in factories)} made a run raise"
    ours = [frame for frame in _frames(error) if _core_of(frame) is not None]
    if ours:
        return f"core {_core_of(ours[-1])} raised"
    core = _answered(error)
    return None if core is None else f"core {core} made a run raise"


def _name(spec: RunSpec, slot: str) -> str:
    return f"core {slot}={spec.chosen[slot]}" if slot in spec.chosen else f"mutant {spec.mutant}"


def _is_on_the_way(factory: Factory, error: BaseException) -> bool:
    """Return whether the exception came through the factory's module, or its package."""
    module = sys.modules.get(getattr(factory, "__module__", ""))
    path = getattr(module, "__file__", None)
    if module is None or path is None:
        return False
    top = module.__name__.partition(".")[0]
    inside = str(Path(path).parent) + os.sep
    own = top != module.__name__ and top != __name__.partition(".")[0]
    return any(
        frame.filename == path or (own and frame.filename.startswith(inside))
        for frame in extract_tb(error.__traceback__)
    )


def _core_of(frame: FrameType) -> str | None:
    """Return the module in `models` that a frame runs, such as `ordering.core`."""
    path = Path(frame.f_code.co_filename).resolve()
    if not str(path).startswith(_MODELS + os.sep):
        return None
    return ".".join(path.relative_to(_MODELS).with_suffix("").parts)


def _answered(error: BaseException) -> str | None:
    """Return the module of our core with an answer that a host could not execute.

    The host either could not go through the answer, or its `match` over the effects found none
    that fits: the exception then comes from there, and the host's `self` has the core.
    """
    frames = list(_frames(error))
    last = frames[-1] if frames[-1].f_code.co_name != "assert_never" else frames[-2]
    lines = extract_tb(error.__traceback__)
    line = lines[frames.index(last)].line or ""
    if ".step(" not in line and "effect" not in last.f_locals:
        return None
    for frame in reversed(frames):
        host = frame.f_locals.get("self")
        for name in ("core", "_core"):
            core: Any = getattr(host, name, None)
            module = type(core).__module__
            if module.startswith("ckptsim.models."):
                return module.removeprefix("ckptsim.models.")
    return None


def _events(error: BaseException) -> Iterator[object]:
    """Yield the events that were being handed to cores, the outermost first."""
    for frame in _frames(error):
        event = frame.f_locals.get("event")
        if is_dataclass(event):  # SimPy's own are none
            yield event


def _frames(error: BaseException) -> Iterator[FrameType]:
    found = error.__traceback__
    while found is not None:
        yield found.tb_frame
        found = found.tb_next


def _where(error: BaseException) -> list[str]:
    """Return the last places of an exception's way, oldest first."""
    frames = extract_tb(error.__traceback__)[-_LINES:]
    return [f"{frame.name}, line {frame.lineno}: {frame.line}" for frame in frames]


def _short(event: object) -> str:
    text = repr(event)
    return text if len(text) <= 200 else f"{text[:197]}..."
