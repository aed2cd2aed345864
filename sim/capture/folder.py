"""Write a recording: into a scratch folder first, so that there is all of it or nothing."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ckptsim.scenarios.errors import UserError
from ckptsim.sim.capture.visit import Taken
from ckptsim.sim.recording import INDEX, Recording, read_recording


def check_free(folder: Path) -> None:
    """Check before the work that the folder does not hold something already.

    Raises UserError.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"--out: found {str(folder)!r}, expected a folder that is new or empty")


def write_recording(folder: Path, taken: Sequence[Taken]) -> tuple[Recording, int]:
    """Write the answers and their index. Return what they say, and how many bytes they have.

    The address is not written: nothing of a recording says where it was made.  Raises UserError,
    with nothing left, for answers that are no recording and for a disk without room.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name[:200]}."))
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        entries = []
        size = 0
        for number, answer in enumerate(taken):
            name = f"{number:04d}.json"
            size += (scratch / name).write_bytes(answer.body.raw)
            entries.append({"file": name, "path": answer.path, "at_ms": answer.at_ms})
        index = json.dumps({"url_of": "recorded", "answers": entries}, indent=0)
        size += (scratch / INDEX).write_bytes(index.encode())
        recording = read_recording(scratch)
        scratch.chmod(0o755)
        if folder.is_dir():
            folder.rmdir()  # an empty one, as was checked. A rename does not replace it everywhere
        scratch.rename(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return recording, size


def _unwritable(folder: Path, error: OSError) -> UserError:
    return UserError(f"--out: found {error.strerror} at {folder}, expected a place to write")
