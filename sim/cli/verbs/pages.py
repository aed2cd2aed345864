"""`list`, `explain`, `schema`, `completion`, `new` and `doctor`: to begin with, and to look up."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

from ckptsim._api.columns import aligned
from ckptsim._api.jobs.new import new
from ckptsim._api.pages import pages
from ckptsim._api.pages.doctor import doctor
from ckptsim._api.pages.topics import TOPICS, property_page
from ckptsim.scenarios.catalogue import LIBRARY, PLANS, text_of
from ckptsim.scenarios.files import parse, read, to_toml, written_whole
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import folder_of, is_plan, plan_from, with_parameters
from ckptsim.sim.cli.completion import SHELLS, completion_script
from ckptsim.sim.cli.main import EXIT_FINE
from ckptsim.sim.cli.options import Verb, flag, json_of, option, output_file, positive, repeated
from ckptsim.sim.cli.printing import document_text, show


def _list(arguments: argparse.Namespace) -> int:
    if arguments.link == "":
        if arguments.json:
            links = [{"name": link.name, "says": link.says} for link in LINKS.values()]
            print(document_text({"links": links}))
        else:
            rows = [(link.name, link.says) for link in LINKS.values()]
            print("\n".join(aligned(("link", "what it models"), rows)))
        return EXIT_FINE
    return show(pages.list(arguments.word, link=arguments.link), as_json=arguments.json)


def _explain(arguments: argparse.Namespace) -> int:
    if arguments.what is None:
        rows = [(name, says) for name, (says, _) in TOPICS.items()]
        print("\n".join(aligned(("topic", "about"), rows)))
        return EXIT_FINE
    if arguments.what in TOPICS or property_page(arguments.what):
        found = pages.explain(arguments.what)
    else:
        source, text = text_of(
            arguments.what,
            LIBRARY,
            PLANS,
            others=[*TOPICS, *(name for link in LINKS.values() for name in link.properties)],
        )
        document = parse(text, source)
        if is_plan(document):
            plan = plan_from(document, source=source, folder=folder_of(arguments.what))
            found = pages.explained_plan(plan)
        else:
            from ckptsim.sim.cli.subject import parameters_set  # with all that runs

            scenario = read(document, source=source)
            set_now = parameters_set(scenario, arguments.set)
            scenario = with_parameters(scenario, set_now, source="--set")
            if arguments.toml:
                print(to_toml(scenario), end="")
                return EXIT_FINE
            found = pages.explained(scenario, only_changed=arguments.changed)
    print(document_text(found.data) if arguments.json else found.text)
    return EXIT_FINE


def _schema(arguments: argparse.Namespace) -> int:
    text = json.dumps(pages.schema(), indent=1, ensure_ascii=False)
    if arguments.out is None:
        print(text)
        return EXIT_FINE
    written_whole(arguments.out, text + "\n")
    print(f"written to {arguments.out}; a TOML file names it in a line: #:schema {arguments.out}")
    return EXIT_FINE


def _completion(arguments: argparse.Namespace) -> int:
    print(completion_script(arguments.shell), end="")
    return EXIT_FINE


# New and doctor ----------------------------------------------------------------------------------

_VERTICES, _RATE, _INTERVAL, _STATE = "source,operator,sink", "1000 /s", "10 s", "10 MB"
# Name of an argument -> the question and the answer of an empty line.
_QUESTIONS: dict[str, tuple[str, str, Callable[[str], object]]] = {
    "vertices": ("vertices, from source to sink", _VERTICES, str),
    "parallelism": ("subtasks of each", "1", positive),
    "rate": ("records of the source", _RATE, str),
    "interval": ("interval of checkpoints", _INTERVAL, str),
    "mode": ("mode of checkpoints: aligned, unaligned, aligned_timeout", "aligned", str),
    "state": ("state of each operator", _STATE, str),
}


def _new(arguments: argparse.Namespace) -> int:
    given = {name: getattr(arguments, name) for name in _QUESTIONS}
    if all(value is None for value in given.values()) and sys.stdin and sys.stdin.isatty():
        given = {name: _asked(*question) for name, question in _QUESTIONS.items()}
    known: dict[str, Any] = {
        name: of(usual) if given[name] is None else given[name]
        for name, (_, usual, of) in _QUESTIONS.items()
    }
    vertices = [word.strip() for word in str(known.pop("vertices")).split(",")]
    return show(new(arguments.out, vertices=vertices, **known), as_json=arguments.json)


def _asked(question: str, usual: str, of: Callable[[str], object]) -> object:
    """Return an answer from the terminal. It is asked again for one that cannot be."""
    while True:
        print(f"{question} [{usual}]: ", end="", file=sys.stderr, flush=True)
        try:
            return of(sys.stdin.readline().strip() or usual)
        except argparse.ArgumentTypeError as error:
            print(error, file=sys.stderr)


def _doctor(arguments: argparse.Namespace) -> int:
    return show(doctor(), as_json=arguments.json)


VERBS = {
    "list": Verb(
        run=_list,
        options=(
            option("word", "a link, or a word to search", "LINK|WORD", nargs="?"),
            option(
                "--link",
                "only this link of the chain; alone: the links themselves",
                "LINK",
                nargs="?",
                const="",
            ),
            json_of("the list"),
        ),
        examples="""examples:
  ckptsim list                            the links, with their counts
  ckptsim list ordering                   the scenarios and plans of a link
  ckptsim list notification               those with a word in name or meaning
  ckptsim list crash --link ordering      both
  ckptsim list --json""",
    ),
    "explain": Verb(
        run=_explain,
        options=(
            option("what", "a name, or a file", "SCENARIO|PLAN|TOPIC|PROPERTY", nargs="?"),
            repeated("--set", "PATH=VALUE", "vary a parameter"),
            flag("--changed", "only changed parameters"),
            flag("--toml", "print the scenario as a file"),
            flag("--json", "print JSON"),
        ),
        examples="""examples:
  ckptsim explain                      shows the topics
  ckptsim explain ordering             every parameter and fault of a link
  ckptsim explain SCENARIO --json      a scenario's parameters for a program
  ckptsim explain SCENARIO --toml      a scenario as the smallest file that gives it
  ckptsim explain SCENARIO --set sync.sockets.count=4 --changed
  ckptsim explain PLAN                 what a sweep plan varies; checks all of its points
  ckptsim explain no_record_lost       what a property promises, and where it is checked""",
    ),
    "schema": Verb(
        run=_schema,
        options=(
            option("--out", "where to write it; otherwise it is printed", "FILE", output_file),
        ),
        examples="""examples:
  ckptsim schema > ckptsim.schema.json
  ckptsim schema --out ckptsim.schema.json

Editors for TOML complete and check a file whose first line names the schema:
  #:schema ./ckptsim.schema.json""",
    ),
    "completion": Verb(
        run=_completion,
        options=(option("shell", "shell", choices=SHELLS),),
        examples="""examples:
  ckptsim completion bash
  ckptsim completion zsh
  ckptsim completion fish > ~/.config/fish/completions/ckptsim.fish

A line in ~/.bashrc or ~/.zshrc takes it over: eval "$(ckptsim completion bash)" """,
    ),
    "new": Verb(
        run=_new,
        options=(
            option("out", "the file to write", "JOB.toml", output_file),
            option("--vertices", f"names from source to sink (default: {_VERTICES})", "A,B,..."),
            option("--parallelism", "subtasks of each (default: 1)", "N", positive),
            option("--rate", f"records of the source (default: {_RATE})", "RATE"),
            option("--interval", f"of checkpoints (default: {_INTERVAL})", "TIME"),
            option("--mode", "aligned (default), unaligned, aligned_timeout, ...", "MODE"),
            option("--state", f"of each operator (default: {_STATE})", "SIZE"),
            json_of("the file"),
        ),
        examples="""examples:
  ckptsim new job.toml                                       asks on a terminal
  ckptsim new job.toml --vertices source,enrich,sink --parallelism 8
  ckptsim new job.toml --rate '20000 /s' --interval '30 s' --mode unaligned --state '2 GB'

The file runs as it is. Each key has its meaning in a comment, and the first line names the schema
for editors, which is written beside it.
exit codes: 0 written, 2 the file is there already, or a value cannot be""",
    ),
    "doctor": Verb(
        run=_doctor,
        options=(json_of("the checks"),),
        examples="""examples:
  ckptsim doctor
  ckptsim doctor --json

It changes nothing. `missing` names what needs a package and how to install it.
exit codes: 0 done""",
    ),
}
