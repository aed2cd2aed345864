"""Options from a configuration file of the engine, or from a resource of its Kubernetes operator.

* `flink-conf.yaml`: a line `KEY: VALUE` for each option
* `config.yaml` (Flink 1.19 and later): YAML, in which keys may be nested
* a `FlinkDeployment`: its `spec.flinkConfiguration`, and the parallelism of `spec.job`
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ckptsim.scenarios.dialect import printable
from ckptsim.scenarios.errors import UserError
from ckptsim.sim.infer.change.change import KNOWN, PARALLELISM

_BYTES_MAX = 1 << 20
_LEVELS_MAX = 20
_OPTIONS_MAX = 5_000
_LINE = re.compile(r"([A-Za-z][\w.\-<>]*)\s*:\s+(\S.*?)\s*")
_KIND = "FlinkDeployment"
# Read where a failure is priced.
_RESTART = "restart-strategy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What a file sets.

    change: the options that the simulation knows. others: those that it does not, by name.
    every: all options, by the engine's names.
    """

    name: str
    change: Mapping[str, str]
    others: tuple[str, ...]
    every: Mapping[str, str]

    @property
    def notes(self) -> Iterator[str]:
        """Yield what a reader must know of the file."""
        if self.others:
            yield f"{self.name}: the simulation does not know {', '.join(self.others)}"
        if PARALLELISM in self.every and PARALLELISM not in self.change:
            yield f"{self.name}: {PARALLELISM} is for jobs that set none, see --set"


class _Texts(yaml.SafeLoader):  # type: ignore[misc]
    """Reads each value as the text that it is: `true`, `10:30` and `1e3` are options, too."""


_Texts.yaml_implicit_resolvers = {}


def read_configuration(path: Path) -> Configuration:
    """Read a file.

    Raises UserError with the place for a file that is none, or has no options.
    """
    try:
        size = path.stat().st_size
        if size > _BYTES_MAX:
            raise UserError(f"{path}: found {size:,} bytes, expected at most 1 MiB")
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}: found {error.strerror}, expected a file of options") from error
    except UnicodeDecodeError:
        raise UserError(f"{path}: found no text in UTF-8, expected a file of options") from None
    every = _lines(text)
    operator = every is None
    if every is None:
        every, operator = _documents(path, text)
    if not every:
        raise UserError(f"{path}: found no option, expected KEY: VALUE, or a {_KIND}")
    change = {key: value for key, value in every.items() if key in KNOWN}
    if not operator:
        # In a cluster's file it is for jobs that say nothing, and a recorded job has its own.
        change.pop(PARALLELISM, None)
    told = (*change, PARALLELISM)
    others = [key for key in every if key not in told and not key.startswith(_RESTART)]
    return Configuration(
        name=printable(path.name), change=change, others=tuple(sorted(others)), every=every
    )


def _lines(text: str) -> dict[str, str] | None:
    """Return the options of lines, or None where a line is no option on one level.

    Source: Apache Flink 1.20.3, GlobalConfiguration: comments begin with `#`, and a key ends with
    a colon and a blank.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        bare = re.sub(r"(^|\s)#.*", "", line).rstrip()
        if not bare or bare == "---":
            continue
        match = _LINE.fullmatch(bare)
        if match is None or match[1] in ("apiVersion", "kind"):
            return None
        found[match[1]] = printable(_unquoted(match[2]))
    return found


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if is_quoted else text


def _documents(path: Path, text: str) -> tuple[dict[str, str], bool]:
    """Return the options of YAML, and whether they are of a resource of the operator."""
    try:
        documents = list(yaml.load_all(text, Loader=_Texts))
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        says = getattr(error, "problem", None) or "nested too deep"
        raise UserError(f"{path}{where}: found no YAML ({says}), expected options") from error
    maps = [one for one in documents if isinstance(one, dict)]
    deployed = [one for one in maps if one.get("kind") == _KIND]
    if len(deployed) > 1:
        raise UserError(f"{path}: found {len(deployed)} of {_KIND}, expected one")
    if not deployed:
        kind = next((one["kind"] for one in maps if "apiVersion" in one and "kind" in one), None)
        if kind is not None:
            found = printable(str(kind))
            raise UserError(f"{path}: found a resource {found!r}, expected a {_KIND}")
        return {key: value for one in maps for key, value in _flat(path, one)}, False
    spec = deployed[0].get("spec")
    spec = spec if isinstance(spec, dict) else {}
    options = dict(_flat(path, spec.get("flinkConfiguration") or {}))
    job = spec.get("job")
    if isinstance(job, dict) and isinstance(job.get("parallelism"), str):
        options[PARALLELISM] = job["parallelism"]
    return options, True


def _flat(path: Path, found: object) -> list[tuple[str, str]]:
    """Return nested keys joined by dots, with their values as texts."""
    options: list[tuple[str, str]] = []

    def walk(value: Any, key: str, levels: int) -> None:
        if levels > _LEVELS_MAX or len(options) > _OPTIONS_MAX:
            most = f"at most {_LEVELS_MAX} levels and {_OPTIONS_MAX:,} options"
            raise UserError(f"{path}: found more, expected {most}")
        if isinstance(value, dict):
            for name, inner in value.items():
                walk(inner, f"{key}.{name}" if key else str(name), levels + 1)
        elif isinstance(value, list):
            texts = (str(one) for one in value if not isinstance(one, dict | list))
            options.append((printable(key), printable("; ".join(texts))))
        elif key:
            options.append((printable(key), printable(str(value))))

    walk(found, "", 0)
    return options
