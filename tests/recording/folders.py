"""Recordings for tests: the shipped ones, and copies of them with something changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).parents[1] / "data" / "flink" / "rest"
NAMES = tuple(sorted(path.name for path in SHIPPED.iterdir() if path.is_dir()))


def copied(name: str, to: Path) -> Path:
    """Copy a shipped recording into a folder, and return where it is."""
    return Path(shutil.copytree(SHIPPED / name, to / name))


def changed(folder: Path, ending: str, change: Callable[[Any], Any]) -> Path:
    """Change the answers of every GET with this end of its path. Return the folder."""
    for entry in json.loads((folder / "index.json").read_text())["answers"]:
        if entry["path"].endswith(ending):
            file = folder / entry["file"]
            file.write_text(json.dumps(change(json.loads(file.read_text()))))
    return folder


def without(folder: Path, *parts: str) -> Path:
    """Remove every answer with one of these in its path. Return the folder."""
    index = json.loads((folder / "index.json").read_text())
    index["answers"] = [
        entry for entry in index["answers"] if not any(part in entry["path"] for part in parts)
    ]
    (folder / "index.json").write_text(json.dumps(index))
    return folder
