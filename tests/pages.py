"""Pages with blocks as files and sessions: the files are written, the commands are run."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
Session = tuple[str, ...]


def text_of(name: str) -> str:
    """Return the text of a page in `docs`."""
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def files_of(text: str) -> dict[str, str]:
    """Return the files of a page.

    Blocks with a name in the first line, and links to `docs/cores`.
    """
    blocks = re.findall(
        r"```(?:python|java|toml|yaml)\n(?:#|//) (\w+\.\w+)\n(.*?)```", text, re.DOTALL
    )
    linked = re.findall(r"\]\(cores/(\w+\.\w+)\)", text)
    return dict(blocks) | {name: text_of(f"cores/{name}") for name in linked}


def sessions_of(text: str) -> list[Session]:
    """Return the commands of the console blocks, each with the lines shown after it."""
    return [
        tuple(part.splitlines())
        for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL)
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)
        if part
    ]


def assert_shown(shown: tuple[str, ...], printed: str) -> None:
    """Fail unless each line shown is printed, in that order. An ellipsis represents its rest."""
    lines = iter(printed.splitlines())
    for line in shown:
        wanted = line.removesuffix("...")
        assert any(
            found.startswith(wanted) if line.endswith("...") else found == line for found in lines
        ), f"{line}\nis not in\n{printed}"
