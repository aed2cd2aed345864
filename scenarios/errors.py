"""Errors that are the user's to mend: a bad scenario file, a bad plan, a bad argument."""

from __future__ import annotations

from dataclasses import dataclass


class UserError(Exception):
    """The user's input is wrong. The message says where, the value found and the value expected.

    The command line turns it into exit code 2 without a traceback.
    """


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in the user's input.

    path: where, such as `library/crash.toml: sync.sockets[1].latency`.
    found: the value, as a short literal.
    expected: what may stand there, with a suggestion for a misspelt key.
    """

    path: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: found {self.found}, expected {self.expected}"


class ScenarioError(UserError):
    """A scenario or plan is wrong. Carries every problem found, in the order of the file."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))
