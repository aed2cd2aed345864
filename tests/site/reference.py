"""The pages of reference that are written by nothing but the code that runs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

import ckptsim
from ckptsim._api.pages.topics import shown
from ckptsim.scenarios.composed import names as composed_names
from ckptsim.scenarios.describe import Description, reference, reference_tables
from ckptsim.scenarios.job import names as job_names
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning.plan_keys import ENTRIES, METRICS
from ckptsim.scenarios.store import names as store_names
from ckptsim.scenarios.sync import names as sync_names
from ckptsim.sim.cli.main import GROUPS, _parser, import_verb
from ckptsim.sim.cli.options import Option


def pages() -> dict[str, str]:
    """Return the text of each page by its name in the folder `reference`."""
    return {
        "command-line": _command_line(),
        **{f"scenario-{key}": _scenario(key, names) for key, names in _models().items()},
        "plans": _plans(),
        "properties": _properties(),
        "metrics": _metrics(),
        "python-api": _python_api(),
    }


def _command_line() -> str:
    lines = ["# Command line", "", "Exit codes: 0 fine, 1 a property was violated or a comparison"]
    lines += ["failed, 2 your input is wrong, 3 a fault of the program.", ""]
    for group, verbs in GROUPS.items():
        lines += [f"## {_capital(group)}", ""]
        for name, (_, says) in verbs.items():
            verb = import_verb(name)
            usage = _parser([name]).verbs[name].format_usage()  # type: ignore[attr-defined]
            lines += [f"### ckptsim {name}", "", f"{_capital(says)}.", ""]
            lines += ["```text", usage.removeprefix("usage: ").rstrip(), "```", ""]
            lines += _table(("option", "meaning", "default"), map(_option, verb.options))
            lines += ["", "```text", verb.examples.rstrip(), "```", ""]
    return "\n".join(lines)


def _option(option: Option) -> tuple[str, str, str]:
    how = option.how
    words = "|".join(str(getattr(word, "value", word)) for word in how.get("choices") or ())
    value = how.get("metavar") or words
    names = ", ".join(option.names)
    if not option.names[0].startswith("-"):
        names, value = str(value or option.names[0]), ""
    elif not value and "action" not in how:
        value = option.names[0].lstrip("-").upper()
    default = how.get("default")
    default = getattr(default, "value", default)
    said = "" if default in (None, [], "==SUPPRESS==") else f"`{default}`"
    return f"`{names} {value}`".replace(" `", "`"), str(how.get("help") or ""), said


def _models() -> dict[str, list[str]]:
    """Return the table of each model with the links that have it."""
    found: dict[str, list[str]] = {}
    for name, link in LINKS.items():
        found.setdefault(link.key, []).append(name)
    return found


def _scenario(key: str, names: Sequence[str]) -> str:
    """Return every key of a model's scenarios: how it is written, its default, its meaning."""
    link, *others = (LINKS[name] for name in names)
    tables, found = reference_tables(link), reference(link)
    lines = [f"# Scenario files with the table {key}", "", f"{_capital(link.says)}.", ""]
    lines += [f'A file begins with `link = "{link.name}"`. `x[]` is an item of the array `x`.']
    lines += ['`x(word)` is the table `x` with `kind = "word"`. A key with a unit at its end has']
    lines += ['a short form: `interval = "1 s"` means `interval_ns`. `ckptsim schema`']
    lines += ["prints the schema by which editors complete and check such files.", ""]
    lines += [f"Defaults are those of `{link.name}`." if others else "", ""]
    for other in others:
        usual = {one.path: one.value for one in found}
        rows = [
            (f"`{one.path}`", f"`{shown(one.value)}`")
            for one in reference(other)
            if one.value != usual[one.path]
        ]
        lines += [f"`{other.name}` ({other.says}) has other defaults:", ""]
        lines += [*_table(("key", "default"), rows), ""]
    for table, items in groupby(found, key=lambda item: item.path.rpartition(".")[0]):
        lines += [f"## {table}", "", f"{_capital(tables.get(table, ''))}", ""] if table else []
        lines += [*_keys(list(items), table), ""]
    return "\n".join(lines)


def _keys(items: Sequence[Description], table: str) -> Iterator[str]:
    rows = (
        (
            f"`{item.path.removeprefix(f'{table}.')}`",
            _type(item),
            "required" if item.value is None else f"`{shown(item.value)}`",
            item.says,
            item.source,
        )
        for item in items
    )
    return _table(("key", "type and bounds", "default", "meaning", "origin"), rows)


_OF_UNIT = {
    "nanoseconds": "duration",
    "bytes": "size",
    "bytes per second": "bandwidth",
    "per second": "rate",
}


def _type(item: Description) -> str:
    """Return the type of a value with its unit and bounds, such as `duration, 1 ms to 1 h`."""
    if item.bounds == "true | false":
        return "true or false"
    if " | " in item.bounds:
        return f"one of {item.bounds.replace(' | ', ', ')}"
    if item.bounds.endswith("items"):
        return f"array of {item.bounds}"
    if item.unit in _OF_UNIT:
        return f"{_OF_UNIT[item.unit]}, {item.bounds}"
    if not item.bounds or not re.match(r"-?[0-9]", item.bounds):
        return item.bounds or "text"
    is_real = isinstance(item.default, float) or "." in item.bounds or item.unit == "ratio"
    return f"{'number' if is_real else 'whole number'}, {item.bounds} {item.unit}".rstrip()


def _plans() -> str:
    rows = (
        (
            f"`{entry.name}`",
            "required" if entry.required else f"`{shown(entry.kind.human(entry.default))}`",
            entry.says,
        )
        for entry in ENTRIES
    )
    head = ["# Sweep plans", "", "The keys of a plan file.", ""]
    return "\n".join([*head, *_table(("key", "default", "meaning"), rows)]) + "\n"


def _properties() -> str:
    """Return the properties of each model with their meaning, and the goals of its runs."""
    says = {**sync_names.PROPERTIES, **store_names.PROPERTIES, **job_names.BOTH}
    says |= {**job_names.RECORDS, **job_names.BUFFERS, **composed_names.OWN_PROPERTIES}
    lines = ["# Properties and goals", "", "A run is judged by the properties of its link. Goals"]
    lines += ["count the rare situations that it reached. [Properties of jobs](../invariants.md)"]
    lines += ["shows who observes each and which run breaks it.", ""]
    for key, names in _models().items():
        link = LINKS[names[0]]
        lines += [f"## {', '.join(names)}", ""]
        rows = ((f"`{one}`", says[one]) for one in link.properties)
        lines += [*_table(("property", "holds when"), rows), ""]
        lines += [f"Goals of `{key}`: {', '.join(f'`{one}`' for one in link.goals)}.", ""]
    return "\n".join(lines)


def _metrics() -> str:
    better = {True: "less", False: "more", None: "neither"}
    rows = (
        (f"`{name}`", one.says, one.measure.value, better[one.less_is_better])
        for name, one in METRICS.items()
    )
    head = [
        "# Metrics",
        "",
        "Name one with `ckptsim sweep --metric`, or in a plan's `metrics`.",
        "",
    ]
    return "\n".join([*head, *_table(("metric", "meaning", "unit", "better"), rows)]) + "\n"


def _python_api() -> str:
    """Return the public names with signature and docstring, functions first."""
    named = {name: getattr(ckptsim, name) for name in ckptsim.__all__}
    lines = [
        "# Python API",
        "",
        "`import ckptsim as ck`. Verbs are functions. Each returns a result",
        "",
    ]
    lines[-2] += " with `text`, `frame()`, `plot` and `to_dict()`."
    kinds = (("Functions", inspect.isfunction), ("Classes", inspect.isclass))
    for title, is_kind in kinds:
        lines += [f"## {title}", ""]
        for name in sorted(filter(lambda one: is_kind(named[one]), named), key=str.lower):
            made = named[name]
            lines += [f"### ck.{name}", ""]
            if inspect.isfunction(made):
                lines += ["```python", _signature(name, made), "```", ""]
            lines += [_doc(made), ""]
            if inspect.isclass(made):
                lines += [*_members(made), ""]
    return "\n".join(lines)


def _signature(name: str, made: Callable[..., object]) -> str:
    """Return a signature, one argument a line where it is long."""
    signature = inspect.signature(made)
    words = []
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        default = getattr(one.default, "__name__", None) or repr(one.default)
        words.append(one.name if one.annotation is one.empty else f"{one.name}: {one.annotation}")
        words[-1] += "" if one.default is one.empty else f" = {default}"
    text = f"{name}({', '.join(words)}) -> {signature.return_annotation}"
    if len(text) <= 88:
        return text
    return "\n".join([f"{name}(", *(f"    {word}," for word in words), text[text.rindex(")") :]])


def _members(made: type) -> Iterator[str]:
    for name, member in inspect.getmembers(made):
        is_member = inspect.isfunction(member) or isinstance(member, property)
        if not name.startswith("_") and is_member and (doc := inspect.getdoc(member)):
            brackets = "()" if inspect.isfunction(member) else ""
            yield f"* `{name}{brackets}`: {doc.partition(chr(10) * 2)[0].replace(chr(10), ' ')}"


def _doc(made: object) -> str:
    """Return a docstring as paragraphs. Angle brackets and stars in it are text."""
    return re.sub(r"([*<])", r"\\\1", inspect.getdoc(made) or "")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(_cell(each) for each in row)} |"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|") or " "
