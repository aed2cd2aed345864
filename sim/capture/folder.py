"""Write a recording: into a scratch folder first, so that there is all of it or nothing."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.capture.visit import Taken
from ckptsim.sim.recording.answers import INDEX


def check_free(folder: Path) -> None:
    """Check before the work that the folder does not hold something already.

    Raises UserError.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"--out: found {str(folder)!r}, expected a folder that is new or empty")


def write_recording(folder: Path, taken: Sequence[Taken]) -> int:
    """Write the answers and their index; return how many bytes they have.

    The address is not written: nothing of a recording says where it was made.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        entries = []
        size = 0
        for number, answer in enumerate(taken):
            name = f"{number:04d}.json"
            size += (scratch / name).write_bytes(answer.body.raw)
            entries.append({"file": name, "path": answer.path, "at_ms": answer.at_ms})
        index = json.dumps({"url_of": "recorded", "answers": entries}, indent=0)
        size += (scratch / INDEX).write_bytes(index.encode())
        scratch.chmod(0o755)
        if folder.is_dir():
            folder.rmdir()  # an empty one, as was checked; a rename does not replace it everywhere
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return size
