"""Scenario files: documents of base units, the loader, the writer, measured costs."""

from ckptsim.scenarios.files.costs_file import cost_parameters, costs_text, load_costs
from ckptsim.scenarios.files.document import (
    canonical,
    canonical_json,
    from_json,
    plain,
    read,
    scenario_key,
)
from ckptsim.scenarios.files.load import load, loads, parse, read_text
from ckptsim.scenarios.files.toml import Place, to_toml, write
from ckptsim.scenarios.files.whole import alone_in, real_folder, written_whole

__all__ = [
    "Place",
    "alone_in",
    "canonical",
    "canonical_json",
    "cost_parameters",
    "costs_text",
    "from_json",
    "load",
    "load_costs",
    "loads",
    "parse",
    "plain",
    "read",
    "read_text",
    "real_folder",
    "scenario_key",
    "to_toml",
    "write",
    "written_whole",
]
