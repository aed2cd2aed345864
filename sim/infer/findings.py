"""Collects what was found, with its place in a scenario and a text for people."""

from __future__ import annotations

from ckptsim.scenarios.dialect import units
from ckptsim.sim.infer.found import Finding, Found


class Findings:
    """The findings so far, in the order in which they were added."""

    def __init__(self) -> None:
        self._all: list[Finding] = []

    @property
    def all(self) -> tuple[Finding, ...]:
        """Return them all."""
        return tuple(self._all)

    def add(
        self,
        place: tuple[str | int, ...],
        name: str,
        found: Found[object],
        value: str | None = None,
    ) -> None:
        """Note a value; its text follows from the unit in its key where none is given."""
        self._all.append(
            Finding(
                place=place,
                name=name,
                value=_text(str(place[-1]), found.value) if value is None else value,
                how=found.how,
                answers=found.answers,
                sure=found.sure,
                effect=found.effect,
            )
        )


def _text(key: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if key.endswith("_ns"):
        return units.write(value, units.DURATION_UNITS)
    if key.endswith("_bytes"):
        return units.write(value, units.SIZE_UNITS)
    return f"{value:,}"
