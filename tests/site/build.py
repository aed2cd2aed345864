"""Lay out the pages of the site, build it with Sphinx, and check that every page is reached.

The pages are in the repository. Links between them stay links, links to other files of the
repository become text. The table of contents is `docs/README.md`: each of its sections is
a kind of page, and generated pages follow under the name that the section gives them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.site import gallery, reference

ROOT = Path(__file__).parents[2]
CONTENTS = ROOT / "docs" / "README.md"
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_ENTRY = re.compile(r"\[([^\]]+)\]\(([^)#]+\.(?:md|ipynb))\)|<!-- generated: ([\w/-]+) -->")
PICTURES = (".svg", ".png")


class SiteError(Exception):
    """The site cannot be built, or is not whole."""


# Layout ------------------------------------------------------------------------------------------


def sections() -> dict[str, dict[str, str]]:
    """Return the kinds of page, each with its pages in order: name in the site -> its title.

    A generated page has no title here.
    """
    found: dict[str, dict[str, str]] = {}
    for part in CONTENTS.read_text("utf-8").split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        pages = found.setdefault(title.strip(), {})
        for says, link, made in _ENTRY.findall(body):
            name = name_of((CONTENTS.parent / link).resolve()) if link else made
            if name is not None:
                pages[name] = says
    return found


def name_of(path: Path) -> str | None:
    """Return the name of a file's page in the site, None where it has none."""
    relative = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    if relative == "README.md":
        return "index"
    if relative == "CONTRIBUTING.md":
        return "contributing"
    if relative.startswith("examples/") and path.suffix == ".ipynb":
        return f"notebooks/{path.stem.replace('_', '-')}"
    if relative.startswith("docs/") and path.suffix == ".md" and path != CONTENTS:
        return relative.removeprefix("docs/").removesuffix(".md")
    return None


def sources() -> dict[str, Path]:
    """Return the files of the repository that are pages, by their names in the site."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "examples").glob("*.ipynb")]
    files += (ROOT / "docs").rglob("*.md")
    return {name: path for path in sorted(files) if (name := name_of(path)) is not None}


def lay_out(folder: Path) -> None:
    """Write the pages into a folder, as Sphinx reads them."""
    named = sources()
    texts = {name: _page(path, named) for name, path in named.items()}
    texts |= {f"reference/{name}": text for name, text in reference.pages().items()}
    texts["gallery"] = gallery.page(folder / "static" / "gallery")
    for name in _decisions(texts):
        texts["decisions/README"] += f"\n```{{toctree}}\n:hidden:\n\n{name}\n```\n"
    trees = [
        "\n".join(
            ["```{toctree}", f":caption: {title}", ":hidden:", "", *_entries(pages), "```", ""]
        )
        for title, pages in sections().items()
    ]
    texts["index"] += "\n\n" + "\n".join(trees)
    for name, text in texts.items():
        (path := folder / f"{name}.md").parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("```mermaid", "```text"), encoding="utf-8")
    for path in (ROOT / "docs").rglob("*"):
        if _is_served(path):
            (to := folder / path.relative_to(ROOT / "docs")).parent.mkdir(exist_ok=True)
            shutil.copy(path, to)
    for name in ("conf.py", "site.css"):
        to = folder / name if name == "conf.py" else folder / "static" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "docs" / "site" / name, to)


def _is_served(path: Path) -> bool:
    """Return whether the site has a file beside its pages: a picture, or a core to download."""
    cores = path.parent == ROOT / "docs" / "cores"
    return cores or (path.suffix in PICTURES and path.is_relative_to(ROOT / "docs"))


def _entries(pages: Mapping[str, str]) -> list[str]:
    return [f"{title} <{name}>" if title else name for name, title in pages.items()]


def _decisions(texts: Mapping[str, str]) -> Iterator[str]:
    names = sorted(name for name in texts if re.match(r"decisions/\d", name))
    yield from ("\n".join(name.removeprefix("decisions/") for name in names),) if names else ()


def _page(path: Path, named: Mapping[str, Path]) -> str:
    text = _notebook(path) if path.suffix == ".ipynb" else path.read_text("utf-8")
    own = Path(name_of(path) or "")

    def rewritten(match: re.Match[str]) -> str:
        mark, says, target = match.groups()
        address, _, place = target.partition("#")
        if urlsplit(target).scheme or not address:
            return match[0]
        to = (path.parent / address).resolve()
        name = name_of(to / "README.md" if to.is_dir() else to)
        if name in named:
            goal = os.path.relpath(f"{name}.md", own.parent)
            return f"{mark}[{says}]({goal}{'#' * bool(place)}{place})"
        if _is_served(to):
            return f"{mark}[{says}]({os.path.relpath(to.relative_to(ROOT / 'docs'), own.parent)})"
        return says

    blocks = re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if part.lstrip().startswith("```") else _LINK.sub(rewritten, part) for part in blocks
    )


def _notebook(path: Path) -> str:
    """Return a notebook as a page: its texts, its code, and the texts that the code printed."""
    lines = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        lines += [source, ""] if cell["cell_type"] == "markdown" else _cell(source, cell)
    return "\n".join(lines)


def _cell(source: str, cell: Mapping[str, object]) -> list[str]:
    lines = ["```python", source, "```", ""]
    outputs = cell["outputs"]
    assert isinstance(outputs, list)
    for output in outputs:
        data = output.get("data", {})
        if "image/png" in data:
            lines += [f"![]({'data:image/png;base64,' + ''.join(data['image/png']).strip()})", ""]
        elif text := "".join(output.get("text") or data.get("text/plain", "")):
            lines += ["```text", text.rstrip(), "```", ""]
    return lines


# Build -------------------------------------------------------------------------------------------


def build(out: Path) -> None:
    """Build the site into a folder. Raises SiteError for a warning or a page out of reach."""
    work = out.with_name(f".{out.name}.pages")
    for folder in (work, out):
        shutil.rmtree(folder, ignore_errors=True)
    lay_out(work)
    words = ["-q", "-W", "--keep-going", "-n", "-b", "html", "-d", f"{work}/.doctrees"]
    done = subprocess.run([sys.executable, "-m", "sphinx", *words, work, out], check=False)
    if done.returncode:
        raise SiteError("Sphinx warned, so the site is not built")
    check(out)
    shutil.rmtree(work)


class _Links(HTMLParser):
    """The addresses that a page loads or links to, and the places in it."""

    def __init__(self) -> None:
        super().__init__()
        self.goes: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag names."""
        given = dict(attrs)
        if place := given.get("id"):
            self.places.add(place)
        address = given.get("href") or given.get("src") or given.get("action")
        if address:
            (self.goes if tag in ("a", "form") else self.loads).append(address)


def check(out: Path) -> int:
    """Check the links of all pages, and return how many pages one reaches from the first one.

    Raises SiteError for a link to nowhere, a page out of reach, and a file from elsewhere.
    """
    pages = {path: _Links() for path in out.rglob("*.html") if "_static" not in path.parts}
    for path, links in pages.items():
        links.feed(path.read_text("utf-8"))
    bad = [
        f"{path.relative_to(out)}: {address}"
        for path, links in pages.items()
        for address in (*links.goes, *links.loads)
        if not _leads(path, address, pages, is_link=address in links.goes)
    ]
    reached, new = set[Path](), [out / "index.html"]
    while new:
        if (path := new.pop()) in pages and path not in reached:
            reached.add(path)
            new += [(path.parent / unquote(urlsplit(one).path)).resolve()
                    for one in pages[path].goes if urlsplit(one).path]  # fmt: skip
    lost = [path.relative_to(out).as_posix() for path in pages if path not in reached]
    if bad or lost:
        raise SiteError("\n".join([*(f"leads nowhere: {one}" for one in bad),
                                   *(f"is not reached: {one}" for one in lost)]))  # fmt: skip
    return len(reached)


def _leads(path: Path, address: str, pages: Mapping[Path, _Links], *, is_link: bool) -> bool:
    """Return whether an address leads to a page, a place or a file of the site."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return parts.scheme == "data" or is_link
    to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if to in pages and parts.fragment:
        return unquote(parts.fragment) in pages[to].places
    return to.exists()
