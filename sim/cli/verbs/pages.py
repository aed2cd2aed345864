"""`list`, `explain`, `schema` and `completion`: what there is, and what it means."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from ckptsim._api.columns import aligned
from ckptsim._api.pages import pages
from ckptsim._api.pages.topics import TOPICS
from ckptsim.scenarios.catalogue import LIBRARY, PLANS, all_names, text_of
from ckptsim.scenarios.files import parse, read, to_toml, written_whole
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import all_plans, folder_of, is_plan, plan_from, with_parameters
from ckptsim.sim.cli.main import EXIT_FINE, import_verb
from ckptsim.sim.cli.main import VERBS as EVERY
from ckptsim.sim.cli.options import Verb, flag, json_of, option, repeated
from ckptsim.sim.cli.places import output_file
from ckptsim.sim.cli.printing import document_text, show


def _list(arguments: argparse.Namespace) -> int:
    """Print name, link and meaning of every scenario, then the sweep plans."""
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
    """Print what the scenario, plan or topic is about."""
    if arguments.what is None:
        rows = [(name, says) for name, (says, _) in TOPICS.items()]
        print("\n".join(aligned(("topic", "about"), rows)))
        return EXIT_FINE
    if arguments.what in TOPICS:
        found = pages.explain(arguments.what)
    else:
        source, text = text_of(arguments.what, LIBRARY, PLANS, others=TOPICS)
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
    """Print or write the schema."""
    text = json.dumps(pages.schema(), indent=1, ensure_ascii=False)
    if arguments.out is None:
        print(text)
        return EXIT_FINE
    written_whole(arguments.out, text + "\n")
    print(f"written to {arguments.out}; a TOML file names it in a line: #:schema {arguments.out}")
    return EXIT_FINE


# Completion --------------------------------------------------------------------------------------

_SCRIPT = """\
_ckptsim() {
    local verb="${COMP_WORDS[1]}" word="${COMP_WORDS[COMP_CWORD]}" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="@VERBS@ help --version --help"
    else
        case "$verb" in
@CASES@
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _ckptsim ckptsim
"""
_ZSH = "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n"


def _completion(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print((_ZSH if arguments.shell == "zsh" else "") + completion_script(), end="")
    return EXIT_FINE


def completion_script() -> str:
    """Return the script, with the verbs, options, scenarios and plans of this program."""
    cases = [f'        {verb}) words="{" ".join(_words(verb))}" ;;' for verb in EVERY]
    cases.append(f'        help) words="{" ".join(EVERY)}" ;;')
    return _SCRIPT.replace("@VERBS@", " ".join(EVERY)).replace("@CASES@", "\n".join(cases))


def _words(verb: str) -> Sequence[str]:
    """Return what may follow a verb: its options and the names that it takes."""
    names = [name for one in import_verb(verb).options for name in one.names]
    plans = [plan.name for plan in all_plans()]
    named: dict[str, list[str]] = {
        **{each: [*all_names()] for each in ("run", "check", "hunt", "replay")},
        "sweep": plans,
        "explain": [*all_names(), *plans, *TOPICS],
        "list": list(LINKS),
        "completion": ["bash", "zsh"],
    }
    named["check"] = [*named["check"], "all", *LINKS]
    return ["-h", "--help", *(n for n in names if n.startswith("-")), *named.get(verb, [])]


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
            option("what", "a name, or a file", "SCENARIO|PLAN|TOPIC", nargs="?"),
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
  ckptsim explain PLAN                 what a sweep plan varies; checks all of its points""",
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
        options=(option("shell", "shell", choices=("bash", "zsh")),),
        examples="""examples:
  ckptsim completion bash
  ckptsim completion zsh

A line in ~/.bashrc or ~/.zshrc takes it over: eval "$(ckptsim completion bash)" """,
    ),
}
