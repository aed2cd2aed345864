"""What completes words in bash, zsh and fish: verbs, options, names, and paths of parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ckptsim._api.pages.topics import TOPICS
from ckptsim.scenarios.catalogue import all_names
from ckptsim.scenarios.describe import reference
from ckptsim.scenarios.links import LINKS
from ckptsim.scenarios.planning import all_plans
from ckptsim.scenarios.planning.plan_keys import METRICS
from ckptsim.sim.cli.main import VERBS, import_verb
from ckptsim.sim.infer.change.change import OPTIONS

SHELLS = ("bash", "zsh", "fish")
_UNIT = re.compile(r"_(?:ns|bytes|per_s|bytes_per_s)$")
_ZSH = "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n"
# Where a path has been completed, its value follows without a blank.
_BASH = """\
_ckptsim() {
    local verb="${COMP_WORDS[1]}" word="${COMP_WORDS[COMP_CWORD]}" words="" before=""
    local scenarios="@SCENARIOS@" plans="@PLANS@"
    [ "$COMP_CWORD" -gt 1 ] && before="${COMP_WORDS[COMP_CWORD-1]}"
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="@VERBS@ help --version --help"
    else
        case "$before" in
@VALUES@
            *) case "$verb" in
@CASES@
            esac ;;
        esac
    fi
    set -f
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    set +f
    case "$before" in --set|--vary) compopt -o nospace 2>/dev/null; return ;; esac
    [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _ckptsim ckptsim
"""


def completion_script(shell: str) -> str:
    """Return the script of a shell, with the names that this program knows."""
    if shell == "fish":
        return "\n".join([*_fish_lines(), ""])
    values = [f'            {"|".join(names)}) words="{" ".join(words)}" ;;'
              for names, words in _values().items()]  # fmt: skip
    cases = [f'            {verb}) words="{" ".join(_words(verb))}" ;;' for verb in VERBS]
    cases.append(f'            help) words="{" ".join(VERBS)}" ;;')
    parts = {"@SCENARIOS@": " ".join(all_names()), "@PLANS@": " ".join(_plans())}
    parts |= {"@VERBS@": " ".join(VERBS), "@VALUES@": "\n".join(values)}
    script = _BASH.replace("@CASES@", "\n".join(cases))
    for mark, text in parts.items():
        script = script.replace(mark, text)
    return (_ZSH if shell == "zsh" else "") + script


def _fish_lines() -> list[str]:
    """Return a line per verb and option. Lists of names are variables, which a line names."""
    lines = ["complete -c ckptsim -e"]
    variables: dict[str, str] = {}
    of_words = {("$scenarios",): all_names(), ("$plans",): _plans()}
    for names, words in (of_words | _values()).items():
        variable = f"__ckptsim_{names[0].strip('-$')}"
        lines.append(f"set -g {variable} {' '.join(map(_quoted, words))}")
        variables |= dict.fromkeys(names, variable)
    lines.append("complete -c ckptsim -f -n __fish_use_subcommand -a help")
    after_help = f"-n '__fish_seen_subcommand_from help' -a {_quoted(' '.join(VERBS))}"
    lines.append(f"complete -c ckptsim -f {after_help}")
    for verb, (_, says) in VERBS.items():
        about = _quoted(says)
        lines.append(f"complete -c ckptsim -f -n __fish_use_subcommand -a {verb} -d {about}")
        when = f"-n '__fish_seen_subcommand_from {verb}'"
        if known := [name.replace("$", "$__ckptsim_") for name in _names(verb)]:
            lines.append(f"complete -c ckptsim {when} -a {_quoted(' '.join(known))}")
        for one in import_verb(verb).options:
            for name in one.names:
                if not name.startswith("--"):
                    continue
                takes = "" if one.how.get("action") in ("store_true", "store_const") else " -r"
                choices = variables.get(name)
                takes += f" -f -a '${choices}'" if choices else ""
                about = _quoted(str(one.how.get("help") or "").partition(";")[0])
                lines.append(f"complete -c ckptsim {when} -l {name[2:]}{takes} -d {about}")
    return lines


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@cache
def _values() -> dict[tuple[str, ...], tuple[str, ...]]:
    from ckptsim.sim.mutants.registry import MUTANTS

    properties = dict.fromkeys(name for link in LINKS.values() for name in link.properties)
    return {
        ("--set", "--vary"): tuple(f"{path}=" for path in parameter_paths()),
        ("--mutant",): tuple(MUTANTS),
        ("--metric",): tuple(METRICS),
        ("--ignore",): tuple(properties),
        ("--link",): tuple(LINKS),
    }


@cache
def parameter_paths() -> tuple[str, ...]:
    """Return the paths that `--set` takes: all links, then the engine's options."""
    found: dict[str, None] = {}
    for link in LINKS.values():
        for one in reference(link):
            path = _UNIT.sub("", re.sub(r"\([^)]*\)", "", one.path)).replace("[]", "[*]")
            if "." in path and not path.startswith("faults"):
                found[path] = None
    return (*found, *OPTIONS)


def _plans() -> tuple[str, ...]:
    return tuple(plan.name for plan in all_plans())


def _words(verb: str) -> Sequence[str]:
    names = [name for one in import_verb(verb).options for name in one.names]
    return ["-h", "--help", *(n for n in names if n.startswith("-")), *_names(verb)]


def _names(verb: str) -> Sequence[str]:
    """Return the names that a verb takes as words. A dollar begins a list of the script."""
    named: dict[str, Sequence[str]] = {
        **dict.fromkeys(("run", "hunt", "replay", "view", "why"), ("$scenarios",)),
        "check": ["$scenarios", "all", *LINKS],
        "sweep": ["$plans", "$scenarios"],
        "explain": ["$scenarios", "$plans", *TOPICS],
        "list": list(LINKS),
        "completion": SHELLS,
        **{key: ["orders"] for key in ("import", "whatif", "advise")},
        "help": list(VERBS),
    }
    return named.get(verb, [])
