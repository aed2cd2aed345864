"""The templates of pages: HTML, scripts, and the style sheets that all pages share.

inside = rendered("whatif.html", headline=..., tables=...)
page("What if: orders", inside)  # one file without any request
notebook(inside)                 # the same with its style alone, for the output of a cell
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|class|function)", re.MULTILINE)
GRAPHS = ("layout", "graph")
"""The modules that draw the graphs of jobs, wherever a page has one."""


def template(name: str) -> str:
    """Return a file of this folder as text."""
    return (files(__name__) / name).read_text(encoding="utf-8")


def style(*names: str) -> str:
    """Return the colours, basics and parts of all pages, then some style sheets of this folder."""
    return "".join(template(f"{name}.css") for name in ("palette", "basics", "parts", *names))


def script(names: Sequence[str]) -> str:
    """Return modules of `view` as one script: they import each other alone, and share names."""
    modules = (template(f"view/{name}.js") for name in names)
    return "".join(_EXPORT.sub("", _IMPORT.sub("", module)) for module in modules)


def rendered(name: str, **values: Any) -> str:
    """Return a template with its values, which are escaped unless the template says otherwise."""
    return _environment().get_template(name).render(values)


def page(title: str, inside: str) -> str:
    """Return one self-contained page. inside: of a template."""
    from markupsafe import Markup

    return rendered(
        "answer.html",
        title=title,
        inside=Markup(inside),  # noqa: S704 - a template has escaped it
        style=style("answer"),
        script=f"{script(GRAPHS)}drawGraphs();\n",
    )


def notebook(inside: str) -> str:
    """Return what a notebook shows, with its style around it alone. inside: of a template."""
    from markupsafe import Markup

    styles = template("palette.css").replace(":root", "&") + template("parts.css")
    scoped = " ".join(styles.split())
    return rendered("notebook.html", inside=Markup(inside), style=scoped)  # noqa: S704 - as above


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=True,
        loader=FunctionLoader(template),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
