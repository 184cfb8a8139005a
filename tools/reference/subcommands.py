"""The page of the subcommands of programs, from the tables that their help shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rdc.calls.mock_option import MockRuns
from runtime_shim.cli.command_line import COMMANDS, OPTIONS, labels_of, options_of
from runtime_shim.editions import EDITIONS
from runtime_shim.engine.session import Extension, Options
from runtime_shim.targets.dbos.command_line import REQUESTS, options_of_worker
from tools.reference.cli import with_code
from tools.reference.markdown import page, table

INTRODUCTION = """\
A document has the subcommands and options that it needs: without tools, there is no `--tool`. To list them, run
`rdc run FILE --help`, and `rdc run FILE answer --help` for one subcommand. `rdc answer`, `resume`, `retry`, `goto` and
`history` take the same. [Operate a run](../how-to/operate.md) explains them."""

OF_PROGRAMS = """\
These words follow `rdc run FILE`, or the name of a compiled [Python program](../targets/python.md). A small program has
fewer of them, unless you compile it with `-O operator=full`: its `--help` lists them. Only `rdc run` has `--mock`."""

OF_WORKERS = "These words follow the name of a [worker program](../targets/dbos.md)."


def subcommands() -> str:
    """Return the page: the subcommands of programs and of workers, with their words and options."""
    kinds = [*dict.fromkeys(kind for name in ("agents", "stepspec") for kind in EDITIONS[name].kinds())]
    in_place: list[type[Extension]] = [*kinds, MockRuns]
    added = [(name, text) for kind in kinds for name, (text, _) in kind.commands.items()]
    commands = dict(reversed([*((name, text) for name, (text, _) in COMMANDS.items()), *added]))
    options = tuple(dict.fromkeys([*OPTIONS, *(option for kind in in_place for option in kind.options)]))
    calls, of_workers = {name: text for name, (text, _) in REQUESTS.items()}, options_of_worker(kinds)
    return page(
        "Subcommands of programs",
        INTRODUCTION,
        *("## Programs and rdc run", OF_PROGRAMS, *_tables(commands, lambda name: options_of(name, options))),
        *("## Workers", OF_WORKERS, *_tables(calls, lambda name: _of_worker(name, of_workers))),
    )


def _of_worker(command: str, options: Options) -> Options:
    return tuple(option for option in options if {"all", command} & {*option[0].split()})


def _tables(commands: dict[str, str], options: Callable[[str], Options]) -> Iterable[str]:
    """Yield a table of the subcommands, and one of their words and options."""
    labels = {name: labels_of(options(name)) for name in commands}
    calls = ((name, " ".join([name, *(label for label in labels[name] if label[0] != "-")])) for name in commands)
    yield table(("subcommand", "purpose"), sorted((f"`{call}`", with_code(commands[name])) for name, call in calls))
    owners: dict[tuple[str, str], list[str]] = {}
    for name in sorted(commands):
        for each in labels[name].items():
            owners.setdefault(each, []).append(f"`{name}`")
    rows = sorted(owners.items(), key=lambda row: (row[0][0][0] == "-", row[0]))
    shown = ((label, "all" if len(names) == len(commands) else ", ".join(names), text) for (label, text), names in rows)
    yield table(("word or option", "of", "meaning"), [(f"`{a}`", names, with_code(text)) for a, names, text in shown])
