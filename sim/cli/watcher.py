"""Watch a verb that runs cores of the user's from outside: a core may take the process away.

The verb runs in a child process.  Before code of the user's runs, the child notes who it is in
memory that both share.  Where the child is gone before it has ended its work, this process shows of
the core, with the exit code of a violation.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import re
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_BYTES = 1 << 16
_OVER = "over "
# A core is named by `--core`, and by what `--set` and `--vary` are given.
_CORE = re.compile(r"--core(=|$)|(--(set|vary)=)?core(\.[a-z_]+)?=")
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Board:
    """A text that two processes share. The last one that was written is."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _BYTES)

    def write(self, text: str) -> None:
        """Put a text in the place of the one before."""
        data = text.encode("utf-8", "replace")[: _BYTES - 4]
        self._memory[:4] = b"\0\0\0\0"
        self._memory[4 : 4 + len(data)] = data
        self._memory[:4] = len(data).to_bytes(4, "little")

    def read(self) -> str:
        """Return the text."""
        count = int.from_bytes(self._memory[:4], "little")
        return self._memory[4 : 4 + count].decode("utf-8", "replace")


def brings_cores(words: Sequence[str]) -> bool:
    """Return whether a command line may bring code of the user's, and can be watched here."""
    named = words[:1] != ["sweep"] and any(map(_CORE.match, words))  # its runs are elsewhere
    find = words[:1] == ["replay"] and any(
        (Path(w) / "decisions.json").is_file() for w in words[1:]
    )
    return (named or find) and hasattr(signal, "sigwaitinfo")


def watch(words: Sequence[str]) -> tuple[Board | None, int]:
    """Continue in a child. Return its board there, and here its exit code once it has ended."""
    board = Board()
    signals = {*_FORWARDED, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        # Imported only now: a process with the threads of numpy is not to be forked.
        from ckptsim.sim.slots.guest import note_with

        note_with(board.write)
        faulthandler.enable(file=2, all_threads=False)  # it shows the place in the core
        _keep_stdout()
        return board, 0
    status = _waited(child, signals)
    code = os.waitstatus_to_exitcode(status)
    said = board.read()
    if said.startswith(_OVER):
        return None, int(said.removeprefix(_OVER))
    if not said:  # no one was in: anyone who has ended it did so from outside
        return None, code if code >= 0 else 128 - code
    print(_told(said, code, words))
    return None, 1


def over(board: Board, code: int) -> int:
    """Note that the work has been done, and with which exit code. What comes now is not heard."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # anyone who reads has enough
    except OSError as error:
        print(f"ckptsim: standard output: {error.strerror}", file=sys.stderr)
        code = 2
    board.write(f"{_OVER}{code}")
    return code


def _keep_stdout() -> None:
    """Keep standard output for this program: who writes to its number writes to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    stdout = sys.stdout
    sys.stdout = os.fdopen(
        kept,
        "w",
        encoding=stdout.encoding,
        errors=stdout.errors,
        buffering=1 if stdout.isatty() else -1,
    )


def _waited(child: int, signals: set[signal.Signals]) -> int:
    """Wait for the child, and pass on what others send. A terminal sends it to both."""
    while True:
        found = signal.sigwaitinfo(signals)
        if found.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status
        elif found.si_pid:
            os.kill(child, found.si_signo)


def _told(said: str, code: int, words: Sequence[str]) -> str:
    try:
        found = json.loads(said)
    except ValueError:
        found = {}
    if "replay" not in found or "--explore" in words:  # no other command draws its scenario
        found["replay"] = shlex.join(["ckptsim", *words])
    if code == -signal.SIGXCPU and "seconds" in found:
        did = f"has not come back from a call within {found['seconds']:g} s of CPU"
    else:
        how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        did = f"took the process away ({how})"
    says = f"{found.get('cores', 'a core')} {did}"
    return violation_told(says, found, as_json="--json" in words)


def violation_told(says: str, found: Mapping[str, object], *, as_json: bool) -> str:
    """Return a violation of a core that has not answered as the verbs print one."""
    from ckptsim.sim.slots.guest import CORE_ANSWERS

    if as_json:
        row = {"property": CORE_ANSWERS, "says": says, "replay": found.get("replay")}
        return json.dumps({"violations": [row | {"seed": found.get("seed")}]}, indent=1)
    lines = [f"VIOLATED {CORE_ANSWERS}: {says}"]
    lines += [f"seed {found['seed']}"] if "seed" in found else []
    lines += [f"replay: {found['replay']}"] if "replay" in found else []
    return "\n".join(lines)
