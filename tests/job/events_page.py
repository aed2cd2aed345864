"""The page of the site on the events of a job."""

from __future__ import annotations

from inspect import getdoc
from textwrap import fill

from ckptsim.sim.job.events import Event, TaskEvent, of_job, of_tasks, of_time

_HEAD = """\
# Events of a job

A job emits typed events, and the oracle checks its properties by them. Your own code can listen
too. Listeners change nothing: a run has the same digest with any of them. Buffers are no events,
because there are millions. They are counted.

A listener has a method with a parameter `event`, annotated with the kinds that it gets:

```python
class Snapshots(Listener):
    def taken(self, event: of_tasks.SnapshotTaken) -> None:
        print(event.task.place, event.checkpoint)


world.events.attach(Snapshots())
```

Every event of a task has it as `task`, with its vertex and subtask as `task.place`. The events are
dataclasses in `sim/job/events`, and their docstrings explain the fields.
"""
_MODULES = (
    (of_job, "Events of the job as a whole"),
    (of_tasks, "Events of single tasks"),
    (of_time, "Events of event time"),
)


def document() -> str:
    """Return the page."""
    lines = [_HEAD]
    for module, title in _MODULES:
        lines += [f"## {title}", ""]
        lines += [
            _item(kind) for kind in Event.kinds.values() if kind.__module__ == module.__name__
        ]
        lines.append("")
    return "\n".join(lines)


def _item(kind: type[Event]) -> str:
    says = " ".join((getdoc(kind) or "").partition("\n\n")[0].split())
    fields = list(getattr(kind, "__dataclass_fields__", {}))
    own = [name for name in fields if name != "task" or not issubclass(kind, TaskEvent)]
    return fill(
        f"* `{kind.__name__}({', '.join(own)})`: {says}",
        118,
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
