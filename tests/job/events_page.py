"""Write the table of `docs/events.md`: `python -m tests.job.events_page`."""

from __future__ import annotations

import re
from inspect import getdoc
from pathlib import Path

from ckptsim.sim.job.events import Event, TaskEvent, of_job, of_tasks

PAGE = Path(__file__).parents[2] / "docs" / "events.md"
_HEAD = """\
# Events of a job

The hosts of a job and its data planes emit typed events into one stream. Each listener gets the
kinds that it asks for, at the instant of the event: the oracle judges by them, and your own code
can follow a run by them. Events change nothing, so the digest of a run does not depend on its
listeners. The kernel counts what moves by the million, such as buffers. Its counts are read when
an event happens.

An event is a dataclass in `sim/job/events`. To add one, write the dataclass and emit it where it
happens. A listener has a method with a parameter `event`. Its type names the kinds:

```python
class Snapshots(Listener):
    def taken(self, event: of_tasks.SnapshotTaken) -> None:
        print(event.task.place, event.checkpoint)


world.events.attach(Snapshots())
```

Every event of a task has it as `task`, with its vertex and subtask as `task.place`. The tables are
written by `python -m tests.job.events_page`, and a test compares them.
"""
_MODULES = ((of_job, "Events of the job as a whole"), (of_tasks, "Events of single tasks"))


def document() -> str:
    """Return the page."""
    lines = [_HEAD]
    for module, title in _MODULES:
        lines += [f"## {title}", "", "| kind | what has happened | fields |", "| --- | --- | --- |"]
        lines += [_row(kind) for kind in Event.kinds.values() if kind.__module__ == module.__name__]
        lines.append("")
    return "\n".join(lines)


def _row(kind: type[Event]) -> str:
    says = " ".join((getdoc(kind) or "").split())
    fields = list(getattr(kind, "__dataclass_fields__", {}))
    own = [name for name in fields if name != "task" or not issubclass(kind, TaskEvent)]
    for name in own:
        says = re.sub(rf"(?<=[;.,] ){name}(?=[,:] )", f"`{name}`", says)
    return f"| `{kind.__name__}` | {says} | {', '.join(f'`{name}`' for name in own)} |"


if __name__ == "__main__":
    PAGE.write_text(document(), encoding="utf-8")
