"""`ckptsim completion`: what completes the words of a command in bash or zsh."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from ckptsim.scenarios.catalogue import all_names
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import all_plans
from ckptsim.sim.cli.main import EXIT_FINE, VERBS, import_verb
from ckptsim.sim.cli.pages.topics import TOPICS

EXAMPLES = """examples:
  ckptsim completion bash
  ckptsim completion zsh

A line in ~/.bashrc or ~/.zshrc takes it over: eval "$(ckptsim completion bash)" """

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("shell", choices=("bash", "zsh"), help="whose words are completed")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print((_ZSH if arguments.shell == "zsh" else "") + script(), end="")
    return EXIT_FINE


def script() -> str:
    """Return the script, with the verbs, options, scenarios and plans of this program."""
    cases = (f'        {verb}) words="{" ".join(_words(verb))}" ;;' for verb in (*VERBS, "help"))
    return _SCRIPT.replace("@VERBS@", " ".join(VERBS)).replace("@CASES@", "\n".join(cases))


def _words(verb: str) -> Iterable[str]:
    """Return what may stand behind a verb: its options and the names that it takes."""
    if verb == "help":
        return VERBS
    parser = argparse.ArgumentParser()
    import_verb(verb).add_arguments(parser)
    options = [word for action in parser._actions for word in action.option_strings]  # noqa: SLF001
    plans = [plan.name for plan in all_plans()]
    named: dict[str, list[str]] = {
        "sweep": plans,
        "explain": [*all_names(), *plans, *TOPICS],
        "list": list(LINKS),
        "completion": ["bash", "zsh"],
    }
    for each in ("run", "check", "hunt", "replay"):
        named[each] = [*all_names(), *(["all", *LINKS] if each == "check" else [])]
    return [*options, *named.get(verb, [])]
