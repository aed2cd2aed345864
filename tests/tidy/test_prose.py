"""Prose: short sentences, the words of the field, and files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tidy import prose

ROOT = prose.ROOT
# Names that a reader gives to files of their own, and files that a verb writes.
OF_USERS = re.compile(
    r"(?:my|mine|your|own|a|find|one|script|core|test_find|test_my)\w*\.(?:py|md)"
)
_FILE = re.compile(r"(?<![\w./{}*<-])((?:[\w-]+/)*[\w-]+\.(?:py|md))\b(?![\w/]|\.\w)")


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_pages_and_modules_read_as_documentation_does() -> None:
    """Each file passes the gate of prose unless it is listed, so new text passes from the start."""
    listed = set(prose.not_yet())
    bad = {
        _relative(path): faults[:3]
        for path in (*prose.pages(), *prose.modules())
        if _relative(path) not in listed and (faults := prose.faults_of(path))
    }
    assert bad == {}


def test_the_list_of_files_that_do_not_pass_only_shrinks() -> None:
    """A listed file has a fault. `python -m tests.tidy.prose` takes the others out."""
    listed = prose.not_yet()
    assert listed == sorted(listed)
    there = [ROOT / name for name in listed if (ROOT / name).exists()]
    assert [path.name for path in there if not prose.faults_of(path)] == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The coordinator aborts the checkpoint.", None),
        ("Say `a; b` in code, and link to [what is there](x.md).", '"what is"'),
        ("One thought; another one.", "semicolon"),
        (f"{'word ' * 31}.", "31 words"),
        ("It waits 5,000 ns.", "nanoseconds"),
        ("x" * 121, "line of 121"),
        ("a, b, c, d are four.", "many commas"),
        (f"{'word ' * 20}.", "mean of 20.0"),
        ("```\nwhat is; this\n```\n\n| what is; a table |\n", None),
    ],
)
def test_the_gate_finds_what_it_is_for(text: str, fault: str | None) -> None:
    """Each rule refuses a sentence that breaks it, and code and tables are free."""
    found = prose.page_faults(text)
    assert (found == []) if fault is None else any(fault in one for one in found), found


def test_comments_and_docstrings_are_read() -> None:
    """Docstrings and comments of a module are prose, directives for tools are none."""
    text = (
        '"""Return what is left."""\nx = 1  # noqa: F841; a directive\n# Nobody waits\n# for it.\n'
    )
    assert [fault.partition(":")[0] for fault in prose.module_faults(text)] == [
        '"what is"',
        '"Nobody"',
    ]


def test_files_that_texts_name_are_there() -> None:
    """Each Python or Markdown file that a page, a docstring or a comment names exists."""
    files = (*prose.pages(), *prose.modules(), *ROOT.glob("*.md"), *ROOT.glob("docs/cores/*"))
    told = {path: "\n".join(prose.blocks(path.read_text("utf-8"))) for path in prose.modules()}
    # A page also names files of the reader, which are in no folder. A decision is of its time.
    for path in prose.pages():
        if "decisions" not in path.parts:
            named = re.findall(r"[\w./-]+/[\w./-]+", path.read_text("utf-8"))
            told[path] = " ".join(named)
    names = [f"/{_relative(path)}" for path in files]
    wrong = []
    for path, text in told.items():
        for name in dict.fromkeys(_FILE.findall(text)):
            end = "/" + name.removeprefix("./")
            if not OF_USERS.fullmatch(name) and not any(one.endswith(end) for one in names):
                wrong.append(f"{_relative(path)}: {name}")
    assert not wrong, "\n".join(wrong)
