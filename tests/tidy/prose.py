"""How prose reads: the faults of a page or of a module's docstrings and comments.

`python -m tests.tidy.prose` takes the files that pass by now out of the list of those that do not
pass yet. It adds none, so the list only shrinks. With `--renew` it writes the list anew, for files
that have new names.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOT_YET = Path(__file__).with_name("prose_not_yet.txt")
FOLDERS = ("models", "scenarios", "sim", "analysis", "src/ckptsim", "tests")

WORDS_MAX = 30
WORDS_MEAN_MAX = 18.0
COMMAS_MAX = 2
MANY_COMMAS_MAX = 0.05  # the share of sentences
LINE_MAX = 120

BANNED = re.compile(
    r"\b(?:what (?:is|are|was|were|has|have)|nobody|whoever|somebody|whose|of which|that of"
    r"|those of|tells|(?:is|are) told|hears|behind|in front of|stands|goes on|given up|but for"
    r"|(?:say|tell) whether)\b",
    re.IGNORECASE,
)
NANOSECONDS = re.compile(r"\b\d[\d,]* ?ns\b|\bnanoseconds?\b")
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"``?[^`]+``?")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+", re.MULTILINE)
_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)(?<!cf)[.!?:][\"')*_]*(?=\s|$)")


def pages() -> list[Path]:
    """Return the pages that people read."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def modules() -> list[Path]:
    """Return the modules of sources and tests."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in found if "data" not in path.parts)


def page_faults(text: str) -> list[str]:
    """Return the faults of a page in Markdown: its sentences, its lines, its units."""
    bare = _FENCE.sub("", text)
    long = [line for line in bare.splitlines() if len(line) > LINE_MAX and not _is_table(line)]
    found = [f"line of {len(line)} characters: {line[:60]}" for line in long]
    prose = "\n".join(line for line in bare.splitlines() if not _is_table(line))
    said = list(sentences(re.sub(r"^#.*$|<[^>]+>", "\n", prose, flags=re.MULTILINE)))
    found += [f"counts nanoseconds: {one[:60]}" for one in said if NANOSECONDS.search(one)]
    lengths = [len(_words(one)) for one in said]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    if mean > WORDS_MEAN_MAX:
        found.append(f"mean of {mean:.1f} words a sentence")
    many = [one for one in said if one.count(",") > COMMAS_MAX]
    if len(many) > MANY_COMMAS_MAX * len(said):
        found.append(f"{len(many)} of {len(said)} sentences have many commas: {many[0][:60]}")
    return found + [fault for one in said for fault in sentence_faults(one)]


def module_faults(text: str) -> list[str]:
    """Return the faults of the docstrings and comments of a module."""
    said = [one for block in blocks(text) for one in sentences(block)]
    return [fault for one in said for fault in sentence_faults(one)]


def sentence_faults(sentence: str) -> list[str]:
    """Return the faults of a sentence by itself."""
    count, banned = len(_words(sentence)), BANNED.search(sentence)
    found = [f"{count} words: {sentence[:60]}"] if count > WORDS_MAX else []
    found += [] if banned is None else [f'"{banned[0]}": {sentence[:60]}']
    return found + ([f"semicolon: {sentence[:60]}"] if ";" in sentence else [])


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of paragraphs and items, with code as one word."""
    text = _CODE.sub("code", _LINK.sub(r"\1", text))
    for block in re.split(r"\n\s*\n", _ITEM.sub("\n\n", text)):
        start, joined = 0, " ".join(block.split())
        for end in [*(match.end() for match in _END.finditer(joined)), len(joined)]:
            sentence, start = joined[start:end].strip(), end
            if len(_words(sentence)) > 1:
                yield sentence


def _words(sentence: str) -> list[str]:
    return [word for word in sentence.split() if any(c.isalnum() for c in word)]


def _is_table(line: str) -> bool:
    return line.lstrip().startswith("|")


def blocks(text: str) -> Iterator[str]:
    """Yield docstrings, and comments of lines that follow each other."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield re.sub(
                r"^(?:    |>>>|\|).*$", "", ast.get_docstring(node) or "", flags=re.MULTILINE
            )
    if "#" not in text:
        return
    block: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not re.match(r"# (?:noqa|type:|ruff)", token.string):
            if token.start[0] != last + 1:
                yield "\n".join(block)
                block = []
            block.append(token.string.lstrip("# ").partition("# noqa")[0].rstrip("- "))
            last = token.start[0]
    yield "\n".join(block)


@cache
def faults_of(path: Path) -> list[str]:
    """Return the faults of the prose of a file."""
    text = path.read_text(encoding="utf-8")
    return page_faults(text) if path.suffix == ".md" else module_faults(text)


def not_yet() -> list[str]:
    """Return the files that do not pass yet."""
    return NOT_YET.read_text(encoding="utf-8").split()


def main(words: list[str]) -> None:
    """Take the files that pass, or are no more, out of the list."""
    every = [path.relative_to(ROOT).as_posix() for path in (*pages(), *modules())]
    names = sorted(every) if words == ["--renew"] else not_yet()
    left = [name for name in names if (ROOT / name).exists() and faults_of(ROOT / name)]
    NOT_YET.write_text("".join(f"{name}\n" for name in left), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
