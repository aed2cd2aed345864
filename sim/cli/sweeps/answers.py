"""What a sweep prints at its end: its answers, and where tables and page are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ckptsim.analysis.summaries import Summaries
    from ckptsim.analysis.tables.store import SweepStore, Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The findings of a sweep, its sentences and its cliffs in words."""

    findings: Summaries
    sentences: tuple[str, ...]
    cliffs: list[str]

    def document(self) -> dict[str, object]:
        """Return what JSON has of them."""
        return {"answers": list(self.sentences), "cliffs": self.cliffs}


def answers_of(store: SweepStore) -> Answers:
    """Return the answers of the sweep in a store."""
    from ckptsim.analysis.answers import answer, cliff_sentences
    from ckptsim.analysis.summaries import read

    findings = read(store)
    sentences = answer(findings).sentences
    return Answers(findings=findings, sentences=sentences, cliffs=cliff_sentences(findings, store))


def answer_lines(found: Answers) -> list[str]:
    """Return the answers as they are printed, after an empty line."""
    from ckptsim.analysis.answers import printed

    return ["", *printed(found.findings, found.cliffs)]


def answered(
    found: Answers, tally: Tally, out: Path, page: Path | None, *, saved: Path | None = None
) -> list[str]:
    """Return the lines at the end of a sweep.

    out: the directory of the tables; page: the report, if one was written; saved: the plan.
    """
    lines = [*answer_lines(found), ""]
    lines += list(_went_wrong(found.findings, tally))
    if saved is not None:
        lines.append(f"plan: {saved}")
    lines.append(f"tables: {out}")
    if page is None:
        return [*lines, f"next: ckptsim report {out}"]
    return [*lines, f"report: {page}", f"open it: ckptsim report {out} --open"]


def _went_wrong(findings: Summaries, tally: Tally) -> list[str]:
    """Return what was not meant to happen, each with the command that repeats a run of it."""
    from ckptsim.analysis.answers import paragraph, violations_of

    lines = []
    if tally.errors:
        first = findings.errors.iloc[0]
        text = str(first["error"]).partition("\n")[0]
        says = f"{tally.errors:,} of {tally.runs:,} runs ended in an error, such as: {text}"
        lines += paragraph(says)
        lines += [f"  replay: {first['replay']}"]
    if tally.violated:
        rows = violations_of(findings, expected=False)
        names = ", ".join(dict.fromkeys(str(row["property"]) for row in rows))
        says = f"{tally.violated:,} of {tally.runs:,} runs violate a property: {names}"
        lines += paragraph(f"{says}; {rows[0]['says']}" if rows else says)
        lines += [f"  replay: {rows[0]['replay']}"] if rows else []
    return lines
