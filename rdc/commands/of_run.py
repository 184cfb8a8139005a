"""`rdc answer`, `resume`, `retry`, `goto` and `history`: short for `rdc run FILE` with that word."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from compiler.frontends import FRONT_ENDS
from rdc.api import Run, runs
from rdc.commands import COMMANDS
from rdc.commands.run import DocumentCommand, complete
from rdc.commands.run import command as run
from rdc.commands.status import lines_of
from rdc.terminal.cells import visible
from runtime_shim.cli.command_line import OPTIONS, labels_of, options_of

UNFINISHED = ("waiting", "ready", "interrupted")
FITS = {"answer": ("waiting",), "resume": UNFINISHED, "retry": ("stop",), "goto": (*UNFINISHED, "stop")}
"""The states of the runs that a word is for; other words are for all runs."""

SUFFIXES = (".md", ".yml", ".yaml", ".json")

HELP = """{summary}

This is the same as `rdc run FILE {verb}`, with the same arguments. Without FILE, it takes the only run in this folder
that fits. If several fit, it lists them. `rdc run FILE {verb} --help` lists the options.

Exit codes: those of `rdc run`; 2 if no run or several runs fit.
"""


def command_of(verb: str) -> click.Command:
    """Return the command for a subcommand of `rdc run`."""

    def act(file: str | None, arguments: tuple[str, ...]) -> int:
        words = [*arguments] if file is None else [file, *arguments]
        if file is None or not is_document(file):
            place, words = _apart(words)
            chosen = _chosen(verb, words, place)
            if chosen is None:
                return 2
            waits = {step for step, _ in chosen.choices}
            if verb == "answer" and len(waits) == 1 and len(words) == 1 and words[0] not in waits:
                words = [*waits, *words]  # only a reply
            words = [chosen.document, verb, *words, *chosen.place]
            sys.stderr.write(f"rdc: {visible(shlex.join(['rdc', 'run', *words]))}\n")
        else:
            words[1:1] = [verb]
        code: int = run.main(["--", *words], prog_name="rdc run", standalone_mode=False)
        return code

    taken = " ".join([*(each for each in labels_of(options_of(verb, OPTIONS)) if each[0] != "-"), "[OPTION]..."])
    words = click.Argument(["arguments"], metavar=taken, nargs=-1, type=click.UNPROCESSED, shell_complete=complete)
    document = click.Argument(["file"], metavar="[FILE]", required=False, type=click.Path())
    text = HELP.format(summary=COMMANDS[verb], verb=verb)
    settings = {"allow_interspersed_args": False, "ignore_unknown_options": True}
    return DocumentCommand(verb, settings, callback=act, params=[document, words], help=text, options_metavar=None)


def is_document(word: str) -> bool:
    """Return whether a word is a document and not a step: a step's id may contain a slash or a dot too."""
    is_file = ("/" in word or Path(word).suffix in SUFFIXES) and Path(word).is_file()
    return any(form.has(word) for form in FRONT_ENDS.values()) or is_file


def _apart(words: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options that choose a run, with their values, and the other words."""
    place, others, rest = list[tuple[str, str]](), list[str](), iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in ("--as", "--state-dir"):
            place.append((name, value if equals else next(rest, "")))
        else:
            others.append(word)
    return place, others


def _is_at(run: Run, option: str, value: str) -> bool:
    """Return whether an option chooses a run."""
    if option == "--as":
        return value != "" and value == run.directory.rpartition("/")[2].partition("@")[2]
    return Path(value).resolve() == Path(run.directory).resolve()


def _chosen(verb: str, words: Sequence[str], place: Iterable[tuple[str, str]]) -> Run | None:
    """Return the only run that fits; otherwise show which runs there are and return None."""
    every = [one for one in runs() if one.document]
    ended = ("stop",) if any(word.startswith("--max-") for word in words) else ()  # a limit that is raised
    there = [one for one in every if all(_is_at(one, *option) for option in place)]
    fit = [one for one in there if one.state in (*FITS.get(verb, (one.state,)), *ended)]
    if verb == "answer" and len(fit) > 1:
        fit = [one for one in fit if words and words[0] in dict(one.choices)] or fit
    if len(fit) == 1:
        return fit[0]
    none = f"no run here fits {verb}; {'the commands above continue them' if every else 'name a FILE'}"
    problem = "several runs fit; name the FILE of one" if fit else none
    lines = [visible(line) for one in fit or every for line in lines_of(one)]
    sys.stderr.write("\n".join([*lines, f"rdc: error: {problem}\n"]))
    return None
