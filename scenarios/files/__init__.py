"""Scenario files: documents of base units, the loader, the writer, measured costs."""

from ckptsim.scenarios.files.document import Place as Place
from ckptsim.scenarios.files.document import canonical as canonical
from ckptsim.scenarios.files.document import canonical_json as canonical_json
from ckptsim.scenarios.files.document import from_json as from_json
from ckptsim.scenarios.files.document import plain as plain
from ckptsim.scenarios.files.document import read as read
from ckptsim.scenarios.files.document import scenario_key as scenario_key
from ckptsim.scenarios.files.document import to_toml as to_toml
from ckptsim.scenarios.files.document import write as write
from ckptsim.scenarios.files.load import alone_in as alone_in
from ckptsim.scenarios.files.load import cost_parameters as cost_parameters
from ckptsim.scenarios.files.load import costs_text as costs_text
from ckptsim.scenarios.files.load import load as load
from ckptsim.scenarios.files.load import load_costs as load_costs
from ckptsim.scenarios.files.load import loads as loads
from ckptsim.scenarios.files.load import parse as parse
from ckptsim.scenarios.files.load import read_text as read_text
from ckptsim.scenarios.files.load import real_folder as real_folder
from ckptsim.scenarios.files.load import written_whole as written_whole
