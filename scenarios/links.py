"""The registry of links: one line each; whoever adds a link adds its module and its line here."""

from __future__ import annotations

from scenarios.spec import Link

_ALL: tuple[Link, ...] = (
    # One line per link, in the order of the chain.
)

LINKS: dict[str, Link] = {link.name: link for link in _ALL}
