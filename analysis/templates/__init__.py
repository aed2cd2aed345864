"""The templates of pages: HTML, scripts, and the style sheets that all pages share."""

from importlib.resources import files


def template(name: str) -> str:
    """Return a file of this folder as text."""
    return (files(__name__) / name).read_text(encoding="utf-8")


def style(*names: str) -> str:
    """Return the colours and basics of all pages, then some style sheets of this folder."""
    return "".join(template(f"{name}.css") for name in ("palette", "basics", *names))
