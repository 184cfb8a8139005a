"""`rdc run`: runs a document in place, with the runtime of generated Python files."""

import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise, takewhile
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from compiler.driver import Settings, compile_file
from compiler.version import __version__
from rdc.calls.mock_option import MockRuns
from rdc.commands.common.documents import language_options
from rdc.commands.common.reporter import Reporter
from rdc.output.target_options import check_names
from rdc.runs.status import elsewhere, take_moved
from rdc.runs.stored import home_of, storing
from rdc.runs.tables import table_of
from rdc.terminal.cells import visible
from runtime_shim.cli.command_line import COMMANDS, OPTIONS, options_of
from runtime_shim.editions import kinds_of, main
from runtime_shim.engine.outcomes import Host
from runtime_shim.engine.program import EXIT_REFUSED, Table, UsageError
from runtime_shim.engine.session import Extension, Kinds
from runtime_shim.engine.state import OURS, State, Store

STARTING = ("run", "open", "steps", "-h", "--help")
"""Subcommands that need no run, so no one looks for it in other folders."""


class DocumentCommand(click.Command):
    """A command whose words after the document belong to the program. The Tab key completes them."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the options that fit there: of the program, or of this command before the document."""
        return complete(ctx, None, incomplete) if ctx.params.get("file") else super().shell_complete(ctx, incomplete)


def complete(ctx: click.Context, _: click.Parameter | None, typed: str) -> list[CompletionItem]:
    """Return the words that the program of the document takes there."""
    words, verb = list(ctx.params.get("arguments") or ()), str(ctx.command.name)
    compilation = compile_file(ctx.params.get("file") or "", Settings())
    if compilation.program is None:
        return []
    words = words if verb == "run" else [verb, *words]
    home = os.path.relpath(compilation.project.root)
    found = _suggestions(table_of(compilation.program), (MockRuns,), words, typed, home)
    return [CompletionItem(typed, type="file")] if found is None else [CompletionItem(each) for each in found]


def _suggestions(program: Table, more: Kinds, words: Sequence[str], typed: str, home: str) -> list[str] | None:
    """Return the words that can follow and start like the last one; None if it is the path of a file.

    `words` are those before it, and `home` is the folder of the state directories' parent.
    """
    kinds = kinds_of(program, more)
    verb, *rest = words if words and words[0][:1] != "-" else ["run", *words]
    options = (*OPTIONS, *(option for kind in kinds for option in kind.options))
    own = {name: takes for _, name, takes, _ in options_of(verb, options)}
    if "--resume" in rest:
        own |= {name: takes for _, name, takes, _ in options_of("resume", options)}
    takes = own.get(rest[-1], "") if rest else ""
    if takes.rstrip(".") in ("FILE", "DIR"):
        return None
    if rest and rest[-1][:2] == "--" and takes:
        found: Iterable[str] = _values(rest[-1], program, _state(program, kinds, rest, home), kinds)
    elif typed[:1] == "-":
        found = (name for name in own if name[0] == "-" and (name not in rest or "..." in own[name]))
    elif not words:
        found = {**COMMANDS, **{name: each for kind in kinds for name, each in kind.commands.items()}}
    else:
        places = [name for name in own if name[0] != "-"]
        given = len([*takewhile(lambda word: word[:2] != "--", rest)])
        place = (places[given:] or [name for name in places if "..." in own[name]])[:1]
        found = _values(f"{verb} {''.join(place)}", program, _state(program, kinds, rest, home), kinds)
    return sorted({word for word in found if word.startswith(typed)})


def _state(program: Table, kinds: Kinds, rest: Sequence[str], home: str) -> State | None:
    """Return the state of the run that the options choose, if it can be read."""
    given = dict(pairwise(rest))
    label = f"@{given['--as']}" if "--as" in given else ""
    directory = given.get("--state-dir") or str(Path(home, OURS, f"{program['name']}{label}"))
    with suppress(UsageError, OSError, IndexError):
        return Store(directory, ["", *(kind.mode for kind in kinds)]).read()
    return None


def _values(place: str, program: Table, state: State | None, kinds: Kinds) -> Iterable[str]:
    """Return the values of an option or an argument, such as `answer STEP`."""
    nodes = program["nodes"]
    steps = [name for name, node in nodes.items() if node["task"] not in ("branch", "end")]
    if place in ("goto STEP", "step PLACE", "--break"):
        return [*steps, *program.get("jumps", {}).get("to", ())]
    if place == "--assume":
        return nodes[state.node].get("words", ("pass", "fail")) if state and state.node in nodes else ()
    if place not in ("answer STEP", "answer REPLY", "--gate") or state is None or state.condition != "waiting":
        return ()
    node = nodes.get(state.node, {"task": ""})
    kind = {task: each for one in kinds for task, each in one.performers.items()}.get(node["task"])
    known = () if kind is None else kind.replies(node) if place == "answer REPLY" else kind.names(state.node, node)
    return [word for word in known if word != "-"]


# Arguments after FILE belong to the program, so click must not look for options there.
@click.command(name="run", cls=DocumentCommand, context_settings={"allow_interspersed_args": False})
@click.argument("file", type=click.Path())
@click.argument("arguments", metavar="[ARGUMENT]...", nargs=-1, type=click.UNPROCESSED, shell_complete=complete)
@language_options
def command(file: str, arguments: tuple[str, ...], settings: Settings) -> int:
    """Run a document in place.

    This is the same as compiling it to Python and running that file with these arguments. Errors and warnings of the
    document come first. rdc's own options come before FILE. All later arguments go to the program. Without a
    subcommand, it starts a run. `rdc run FILE --help` shows its subcommands and options.

    Exit codes: 0 complete, 1 stopped, 2 usage error or errors in the document, 75 waiting for an answer, 130
    interrupted.
    """
    compilation = compile_file(file, settings)
    has_subcommand = arguments and (not arguments[0].startswith("-") or arguments[0] in ("-h", "--help"))
    words = list(arguments) if has_subcommand else ["run", *arguments]
    unknown = [*check_names(compilation.tables)]
    is_wrong = compilation.program is None or bool(unknown)
    if is_wrong or words[0] == "run":  # before anything runs
        Reporter(quiet=not is_wrong).report([*compilation.diagnostics, *unknown], compilation.sources)
    if compilation.program is None or unknown:
        return 2
    table = table_of(compilation.program)
    found, folders = _places(table["name"], compilation.project.root, file, words)
    if len(found) == 1:
        words += ["--state-dir", found[0]]
        sys.stderr.write(f"rdc: this run is in {visible(found[0])}\n")
    host = Host(_called(file, settings), home=home_of(compilation.project.root), moved=take_moved)
    more: list[type[Extension]] = [MockRuns]
    if not (settings.front_end or settings.options):  # `rdc status` knows no options
        more.append(storing(compilation, table))
    code = main(table, words, host, more, __version__)
    if code == EXIT_REFUSED and folders and len(found) != 1:
        where = "runs of it are in" if found else "these folders have no run of it either:"
        sys.stderr.write(f"rdc: {where} {visible(', '.join(found or folders))}\n")
    return code


def _places(name: str, root: str, file: str, words: list[str]) -> tuple[list[str], list[str]]:
    """Return the state directories of a run that was started elsewhere, and the other folders that were searched."""
    chosen = {word.partition("=")[0] for word in words} & {"--as", "--state-dir", "--all", "-h", "--help"}
    is_here = chosen or words[0] in STARTING or Path(root, OURS, name).exists()
    return ([], []) if is_here else elsewhere(name, root, file)


def _called(file: str, settings: Settings) -> str:
    given = [("--from", settings.front_end), *((f"--{name}", words) for name, words in settings.options.items())]
    listed = [(option, [words] if isinstance(words, str) else words or ()) for option, words in given]
    options = [each for option, words in listed for word in words for each in (option, word)]
    return shlex.join(["rdc", "run", *options, file])
