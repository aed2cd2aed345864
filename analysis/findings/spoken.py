"""The points of a sweep as people speak of them: swept parameters and their values in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ckptsim.analysis.findings.share import Point
from ckptsim.analysis.words import names_in_words, value_in_words
from ckptsim.scenarios.planning import SCENARIO_AXIS


class Spoken:
    """The swept parameters of a sweep in words.

    axes: swept values by name, in the order of the plan; of: the parameters in words of each point.
    """

    def __init__(self, about: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> None:
        paths = [path for path, _ in about["axes"]]
        # A sweep of a release whose plans had no names of their own has none.
        self._names = names_in_words(paths, about.get("words", {}))
        self.axes = {
            self._names[path]: [value_in_words(path, value) for value in values]
            for path, values in about["axes"]
        }
        self.of: dict[Point, str] = {
            (point["scenario"], point["parameters"]): self.parameters(point) for point in points
        }

    def parameters(self, point: Mapping[str, Any]) -> str:
        """Return the swept parameters of a point in words, as JSON in the order of the plan."""
        values = {**json.loads(point["parameters"]), SCENARIO_AXIS: point["scenario"]}
        swept = {
            name: value_in_words(path, values[path])
            for path, name in self._names.items()
            if path in values
        }
        return json.dumps(swept, ensure_ascii=False)

    def frame(self, found: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with the parameters of its points in words."""
        keys = zip(found["scenario"], found["parameters"], strict=True)
        return found.assign(parameters=[self.of[key] for key in keys])
