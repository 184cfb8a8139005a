"""The page of the commands, from their definitions in click."""

from __future__ import annotations

import inspect
import re
from typing import Any

import click

from rdc.cli import cli
from rdc.commands import COMMANDS, PROGRAM, load
from tools.reference.markdown import page, table

INTRODUCTION = """\
`rdc --help` lists the commands, and `rdc COMMAND --help` shows this text in your terminal. Every command returns one of
these [exit codes](exit-codes.md). The words after `rdc run FILE` are on another page: [subcommands](subcommands.md)."""

VERBATIM = "\b\n"
"""Click prints a paragraph that starts with this as it is written."""

BARE = re.compile(r"(?<![`\w-])--[a-z][a-z-]*(?![\w`])")
"""An option that help names without backticks."""


def commands() -> str:
    """Return the page: usage, description and options of each command."""
    overview = table(
        ("command", "purpose"), [(f"[`rdc {name}`](#rdc-{name})", text) for name, text in COMMANDS.items()]
    )
    with click.Context(cli, info_name=PROGRAM) as parent:
        parts = [part for name in COMMANDS for part in _section(load(name), name, parent)]
    return page("Commands", INTRODUCTION, overview, *parts)


def _section(command: click.Command, name: str, parent: click.Context) -> list[str]:
    with click.Context(command, info_name=name, parent=parent, **command.context_settings) as context:
        usage = f"```text\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```"
        rows = [_row(option, context) for option in command.params if isinstance(option, click.Option)]
    described = [_paragraph(text) for text in inspect.cleandoc(command.help or "").split("\n\n")]
    listed = [table(("option", "default", "meaning"), rows)] if rows else []
    return [f"## {PROGRAM} {name}", usage, *described, *listed]


def _paragraph(text: str) -> str:
    """Return a paragraph of help as Markdown."""
    if text.startswith(VERBATIM):
        return f"```text\n{text.removeprefix(VERBATIM)}\n```"
    return with_code(" ".join(text.split()))


def with_code(text: str) -> str:
    """Return the text with its options in backticks, except where they are code already."""
    pieces = text.split("`")
    return "`".join(piece if number % 2 else BARE.sub(r"`\g<0>`", piece) for number, piece in enumerate(pieces))


def _row(option: click.Option, context: click.Context) -> tuple[str, str, str]:
    *others, last = (*option.opts, *option.secondary_opts)
    names = ", ".join([*(f"`{name}`" for name in others), f"`{last}{_value(option)}`"])
    is_shown = option.show_default or (context.show_default and not option.is_flag)
    default: Any = option.to_info_dict()["default"] if is_shown else None
    sentences = [with_code(option.help or "") or "The format of the output."]
    if isinstance(option.type, click.Choice):
        sentences.append(f"One of {', '.join(f'`{choice}`' for choice in option.type.choices)}.")
    if option.multiple:
        sentences.append("You can repeat this option.")
    return names, "" if default is None else f"`{default}`", " ".join(sentences)


def _value(option: click.Option) -> str:
    """Return the value of an option as help shows it, after a space; "" for a flag."""
    if option.is_flag:
        return ""
    if option.metavar:
        return f" {option.metavar}"
    if isinstance(option.type, click.Choice):
        return f" {option.opts[-1].removeprefix('--').upper()}"
    return " TEXT" if option.type is click.STRING else " N"
