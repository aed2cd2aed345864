"""The site: its contents, its generated pages, and the whole of it built and looked at."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import ckptsim
from ckptsim.scenarios.describe import reference as parameters
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning.plan_keys import METRICS
from ckptsim.sim.cli.main import VERBS, import_verb
from tests.analysis.report.browser import chromium, look
from tests.package.test_extras import ROOT
from tests.site import gallery, reference
from tests.site.build import SiteError, build, check, sections, sources

GENERATED = ("gallery", *(f"reference/{name}" for name in reference.pages()))


def test_each_page_has_one_place_in_the_contents() -> None:
    """The contents have each page once, under one of the four kinds."""
    kinds = sections()
    assert list(kinds) == ["Tutorials", "How-to guides", "Reference", "Explanation"]
    listed = [name for names in kinds.values() for name in names]
    assert len(listed) == len(set(listed))
    own = {name for name in sources() if not re.match(r"index|decisions/\d", name)}
    assert set(listed) == own | set(GENERATED)


def test_the_reference_has_all_that_runs() -> None:
    """Each verb with its options, each key, metric, property and public name has its line."""
    pages = reference.pages()
    for verb in VERBS:
        assert f"### ckptsim {verb}\n" in pages["command-line"]
        for option in import_verb(verb).options:
            named = option.how.get("metavar") or option.how.get("choices") or option.names
            assert (named if isinstance(named, str) else named[0]) in pages["command-line"]
    for link in LINKS.values():
        page = pages[f"scenario-{link.key}"]
        for one in parameters(link):
            assert f"| `{one.path.rpartition('.')[2]}` |" in page
        assert all(f"`{name}`" in pages["properties"] for name in (*link.properties, *link.goals))
    assert all(f"| `{name}` |" in pages["metrics"] for name in METRICS)
    public = [name for name in ckptsim.__all__ if callable(getattr(ckptsim, name))]
    assert all(f"### ck.{name}\n" in pages["python-api"] for name in public)


def test_the_gallery_has_twenty_figures_and_pages() -> None:
    """Each of them shows how it is made."""
    assert len(gallery.FIGURES) + len(gallery.PAGES) == 20
    assert all(line.startswith("ck.") for _, line in gallery.FIGURES)


def test_a_broken_link_and_a_lost_page_are_found(tmp_path: Path) -> None:
    """A link to nowhere, a place that is not there, a lost page and a file from elsewhere fail."""
    (tmp_path / "index.html").write_text(
        '<a href="none.html">x</a><a href="#no">y</a><script src="https://cdn.example/a.js">'
    )
    (tmp_path / "lost.html").write_text("<p>z</p>")
    with pytest.raises(SiteError) as error:
        check(tmp_path)
    for found in ("none.html", "#no", "https://cdn.example/a.js", "is not reached: lost.html"):
        assert found in str(error.value)


def test_the_lock_of_the_site_agrees_with_the_other(tmp_path: Path) -> None:
    """It pins what `make site` needs, and what both locks have in the same versions."""
    pinned = [
        dict(re.findall(r"(?m)^([\w.-]+)==([\w.]+)", (ROOT / name).read_text("utf-8")))
        for name in ("requirements.lock", "requirements-site.lock")
    ]
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    group = re.search(r"(?s)\nsite = \[\n(.*?)\n\]", text)
    assert group is not None
    for line in re.findall(r'"(.*?)"', group[1]):
        assert Requirement(line).name in pinned[1]
    both = pinned[0].keys() & pinned[1].keys()
    assert len(both) > 5
    assert [name for name in both if pinned[0][name] != pinned[1][name]] == []


@pytest.mark.long
@pytest.mark.skipif(find_spec("sphinx") is None, reason="`make site` has not installed Sphinx")
def test_the_site_builds_without_a_warning_and_fits_a_phone(tmp_path: Path) -> None:
    """Every page is built and reached, its links lead somewhere, and none is wider than it may."""
    out = tmp_path / "site"
    build(out)
    text = json.dumps((out / "searchindex.js").read_text("utf-8"))
    assert "unaligned" in text
    assert "prefers-color-scheme: dark" in (out / "index.html").read_text("utf-8")
    if chromium() is None:
        return
    pages = ["index", "reference/command-line", "reference/scenario-job", "how-to/interval"]
    for name in pages:
        for width in (1280, 400):
            place = out / f"{name}.html"
            found, console = look(place, width=width, action="")
            assert found["page"] <= found["width"], f"{name} at {width}"
            assert console == []
