"""Answers about jobs as self-contained pages: tables, bars of the parts, notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

Bar = tuple[str, str, Mapping[str, float]]
"""Label, name of the vertex that is last in a checkpoint, its parts in ms, in their order."""

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Title, empty for none; head and rows of texts."""

_COLOURS = ("#4c78a8", "#f58518", "#54a24b")
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #8884; }
.text { text-align: left; }
td + td { white-space: nowrap; }
.scroll { overflow-x: auto; }
svg.bars { display: block; width: 100%; min-width: 47rem; }
svg text { fill: currentColor; font-size: 12px; }
"""
_OF_WHAT = (
    "Of the subtask that acknowledges last, in the checkpoint of median duration. What is written"
    " while barriers are awaited counts as alignment."
)
_BAR, _GAP, _LEFT, _WIDE = 18, 10, 380, 500
# Of 12 px, that the space on the left has.
_LETTERS = 42


def whole_page(title: str, inside: str) -> str:
    """Return a page around HTML. title: plain text."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>\n"
        f"{inside}\n</body></html>\n"
    )


def body(
    *,
    tables: Sequence[Table],
    bars: Sequence[Bar],
    moved: Sequence[str],
    notes: Sequence[str],
) -> str:
    """Return the content below the title, as HTML for this page or a larger one."""
    return "\n".join(
        [
            *(line for table in tables for line in table_lines(table)),
            "<h3>Where a checkpoint spends its time</h3>",
            f"<p>{_OF_WHAT}</p>",
            _picture(bars),
            _list("What moved", moved),
            notes_html(notes),
        ]
    )


def table_lines(table: Table) -> Iterator[str]:
    """Yield a table as HTML, below its title."""
    title, head, rows = table
    if title:
        yield f"<h3>{escape(title[:1].upper() + title[1:].rstrip(':'))}</h3>"
    yield '<div class="scroll"><table><thead>' + _row("th", head) + "</thead><tbody>"
    yield from (_row("td", row) for row in rows)
    yield "</tbody></table></div>"


def _row(cell: str, texts: Sequence[str]) -> str:
    first, *others = texts
    cells = [f'<{cell} class="text">{escape(first)}</{cell}>']
    cells += [f"<{cell}>{escape(text)}</{cell}>" for text in others]
    return f"<tr>{''.join(cells)}</tr>"


def notes_html(notes: Sequence[str]) -> str:
    """Return what must be read with an answer, nothing where there is none."""
    return _list("To be read with it", notes)


def _list(head: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<h3>{escape(head)}</h3><ul>{items}</ul>"


def _picture(bars: Sequence[Bar]) -> str:
    """Return horizontal bars, one per label, of the parts one after the other."""
    if not bars:
        return "<p>No checkpoint was completed.</p>"
    longest = max(sum(parts.values()) for _, _, parts in bars) or 1.0
    lines = []
    for index, (label, vertex, parts) in enumerate(bars):
        top = index * (_BAR + _GAP)
        lines.append(f'<text x="0" y="{top + 13}">{escape(_end_of(label))}</text>')
        at = float(_LEFT)
        for (name, value), colour in zip(parts.items(), _COLOURS, strict=False):
            wide = value / longest * _WIDE
            says = f"{name} of {vertex}: {value:,.0f} ms"
            lines.append(
                f'<rect x="{at:.1f}" y="{top}" width="{wide:.1f}" height="{_BAR}" '
                f'fill="{colour}"><title>{escape(says)}</title></rect>'
            )
            at += wide
        total = f"{sum(parts.values()):,.0f} ms, {vertex}"
        lines.append(f'<text x="{at + 6:.1f}" y="{top + 13}">{escape(total)}</text>')
    below = len(bars) * (_BAR + _GAP)
    for index, (name, colour) in enumerate(zip(bars[0][2], _COLOURS, strict=False)):
        left = _LEFT + index * 130
        lines.append(f'<rect x="{left}" y="{below}" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{left + 18}" y="{below + 11}">{escape(name)}</text>')
    size = f"0 0 {_LEFT + _WIDE + 220} {below + 24}"
    picture = (
        f'<svg class="bars" viewBox="{size}" role="img" aria-label="parts">{"".join(lines)}</svg>'
    )
    return f'<div class="scroll">{picture}</div>'


def _end_of(label: str) -> str:
    """Return a label that fits beside its bar: variants differ in their last changes."""
    end = label
    while len(end) > _LETTERS and ", " in end:
        end = end.partition(", ")[2]
    if end != label:
        end = f"…, {end}"
    return end if len(end) <= _LETTERS else f"…{end[1 - _LETTERS :]}"
