"""Malformed scenarios: each is refused with path, value and expectation, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptsim.scenarios import Link, Problem, Scenario, ScenarioError, loads
from ckptsim.scenarios.catalogue import all_scenarios
from ckptsim.scenarios.files import read, write
from ckptsim.scenarios.files.document import to_json
from ckptsim.scenarios.links import LINKS
from ckptsim.sim.cli import main
from tests.scenarios.loader import toy
from tests.scenarios.loader.mutations import Mutation, mutations
from tests.scenarios.loader.strategies import toml_values

MUTATIONS_PER_LINK = 80
CORPUS = sorted((Path(__file__).parent / "malformed").iterdir())


def _subjects() -> list[tuple[Scenario, Link]]:
    """Return one scenario of every link: the one with the most to go wrong."""
    found = [(toy.EXAMPLE, toy.LINK)]
    for link in LINKS.values():
        ours = [scenario for scenario in all_scenarios() if scenario.link == link.name]
        if ours:
            found.append((max(ours, key=lambda scenario: len(to_json(scenario))), link))
    return found


SUBJECTS = _subjects()


@cache
def _all_mutations() -> list[tuple[str, Mutation, dict[str, Link]]]:
    return [
        (scenario.link, mutation, {link.name: link})
        for scenario, link in SUBJECTS
        for mutation in mutations(scenario, link)
    ]


def _some_mutations_of_every_link() -> list[Mutation]:
    """Return evenly spaced mutations of every registered link: all of them would take minutes."""
    found: list[Mutation] = []
    for name in LINKS:
        ours = [mutation for link, mutation, _ in _all_mutations() if link == name]
        found += ours[:: max(1, len(ours) // MUTATIONS_PER_LINK)]
    return found


def _problems(load: Callable[[], object]) -> tuple[Problem, ...]:
    """Return the problems that loading reports. Any other exception fails the test."""
    try:
        load()
    except ScenarioError as error:
        return error.problems
    return ()


def _check(problems: tuple[Problem, ...], place: str) -> None:
    assert problems
    for problem in problems:
        assert problem.found
        assert problem.expected
        assert len(problem.found) < 300
    assert any(problem.path.endswith(f": {place}") for problem in problems), (place, problems)


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
def test_every_mistake_is_refused_at_its_place(every: int) -> None:
    """Each of many hundred one-mistake files gives an error that names the mistake's place."""
    found = _all_mutations()[
        ::every
    ]  # evenly, so that no parameter has all of its mistakes left out
    assert len(found) > 200
    for link, mutation, links in found:
        text = write(mutation.document)
        problems = _problems(lambda: loads(text, source=link, links=links))  # noqa: B023
        assert problems, f"{link}: {mutation.name} was accepted"
        _check(problems, mutation.place)


def test_two_mistakes_give_two_problems() -> None:
    """A file with two mistakes reports both."""
    ours = [mutation for link, mutation, _ in _all_mutations() if link == "toy"]
    texts = [m for m in ours if m.name.startswith("bad unit at toy.")]
    for first, second in pairwise(texts):
        keys = [first.place.split(".")[1], second.place.split(".")[1]]
        if keys[0] == keys[1] or any("[" in key for key in keys):
            continue
        both = dict(first.document)
        both["toy"] = first.document["toy"] | {keys[1]: second.document["toy"][keys[1]]}
        with pytest.raises(ScenarioError) as caught:
            read(both, source="x", links=toy.LINKS)
        _check(caught.value.problems, first.place)
        _check(caught.value.problems, second.place)


@pytest.mark.parametrize("path", CORPUS, ids=[path.name for path in CORPUS])
def test_corpus_is_refused_by_the_command_line(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each hand-written malformed file gives exit code 2 and the sentence that it asks for."""
    assert main(["explain", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert path.name in captured.err
    assert ": found " in captured.err
    assert ", expected " in captured.err
    for line in path.read_bytes().decode("utf-8", "replace").splitlines():
        if line.startswith("# expect: "):
            assert line.removeprefix("# expect: ") in captured.err


def test_mutations_end_with_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Malformed files of the links in the registry give exit code 2 on the command line."""
    checked = 0
    for mutation in _some_mutations_of_every_link():
        file = tmp_path / "x.toml"
        file.write_text(write(mutation.document), encoding="utf-8")
        assert main(["explain", str(file)]) == 2, mutation.name
        captured = capsys.readouterr()
        assert mutation.place in captured.err
        assert "Traceback" not in captured.err
        checked += 1
    assert checked >= 200


def test_paths_that_are_no_files_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Directories, missing files, pipes, large files, odd names: exit code 2, no traceback."""
    (tmp_path / "large.toml").write_bytes(b"#" * (1 << 21))
    os.mkfifo(tmp_path / "pipe.toml")
    words = [
        str(tmp_path),
        str(tmp_path) + "/none.toml",
        str(tmp_path / "large.toml"),
        str(tmp_path / "pipe.toml"),
        "/dev/zero",
        "/dev/null",
        "no_such_scenario",
        "a\x00b.toml",
        "x" * 5000 + ".toml",
        "",
        "..",
        "\udcff.toml",
    ]
    for word in words:
        assert main(["explain", word]) == 2, word
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        assert ", expected " in captured.err


def test_exit_code_of_the_process(tmp_path: Path) -> None:
    """The process itself ends with code 2 and an error text without a traceback."""
    file = tmp_path / "x.toml"
    file.write_text('name = "x"\nlink = "nowhere"\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "ckptsim", "explain", str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert 'link: found "nowhere", expected one of ' in done.stderr


@settings(max_examples=300)
@given(
    document=st.dictionaries(st.sampled_from(["name", "link", "toy", "faults", "x"]), toml_values())
)
def test_arbitrary_documents_are_read_or_refused(document: dict[str, Any]) -> None:
    """Whatever the top-level keys hold, the loader gives a scenario or a ScenarioError."""
    head = {"name": "x", "link": "toy", "says": "x"}
    for problem in _problems(lambda: read(head | document, source="x", links=toy.LINKS)):
        assert problem.found
        assert problem.expected
        assert str(problem).isprintable()


@settings(max_examples=250)
@given(data=st.data())
def test_arbitrary_values_are_read_or_refused(data: st.DataObject) -> None:
    """Whatever a parameter holds, the loader gives a scenario or a ScenarioError at its place."""
    base = dict(toy.DOCUMENT["toy"])
    keys = data.draw(st.lists(st.sampled_from(sorted(base)), min_size=1, max_size=3))
    for key in keys:
        base[key] = data.draw(toml_values())
    whole = toy.DOCUMENT | {"toy": base}
    for problem in _problems(lambda: read(whole, source="x", links=toy.LINKS)):
        assert problem.path.startswith("x: ")
        assert str(problem).isprintable()


@settings(max_examples=300)
@given(text=st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_arbitrary_texts_are_read_or_refused(text: str) -> None:
    """Whatever a file holds, the loader gives a scenario or a ScenarioError."""
    for problem in _problems(lambda: loads(text, source="x", links=toy.LINKS)):
        assert str(problem).isprintable()
