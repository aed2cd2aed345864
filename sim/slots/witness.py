"""Another process that says which core was in when this one has gone, for runs from Python.

The command line runs in a child and is watched by its parent.  A Python program of the user's is no
one's child: here a shell waits for it to end, with a note in a file that both have open.  While no
guest is in, the note is empty and the shell says nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

# It has standard error as it was before pytest began to capture it, where pytest runs.
_PLUGIN = "ckptsim.testing.plugin"
_SHELL = "/bin/sh"
_WAITS = "read -r ended; cat <&3 >&2"


class Witness:
    """The note of this process, and the end of a pipe that closes with it."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self._note = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as the process runs
        read, self._open = os.pipe()
        files = [
            (read, 0),
            (self._note.fileno(), 3),
            (getattr(sys.modules.get(_PLUGIN), "stderr", 2), 2),
        ]
        os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", _WAITS],
            os.environ,
            # In a group of its own: an interrupt from the keyboard is not meant for it.
            setpgroup=0,
            file_actions=[(os.POSIX_SPAWN_DUP2, ours, its) for ours, its in files],
        )
        os.close(read)

    def write(self, says: str) -> None:
        """Put a note in the place of the one before. An empty one: no one is in."""
        data = _told(says).encode() if says else b""
        os.ftruncate(self._note.fileno(), 0)
        os.pwrite(self._note.fileno(), data, 0)


def _told(says: str) -> str:
    found = json.loads(says)
    seed = f", seed {found['seed']}" if "seed" in found else ""
    replay = f"\nreplay: {found['replay']}" if "replay" in found else ""
    return f"ckptsim: the process has ended within {found['cores']}{seed}{replay}\n"
