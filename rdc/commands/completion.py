"""`rdc completion`: the script that completes commands, options, targets, codes and files in a shell."""

import click
from click.shell_completion import get_completion_class

from rdc.commands import COMPLETION_VARIABLE, PROGRAM
from rdc.terminal.output import put


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the completion script for a shell.

    \b
    bash: eval "$(rdc completion bash)" in ~/.bashrc
    zsh:  eval "$(rdc completion zsh)" in ~/.zshrc
    fish: rdc completion fish > ~/.config/fish/completions/rdc.fish
    """  # noqa: D301 (\b is what click takes for a paragraph not to be filled)
    scripts = get_completion_class(shell)
    assert scripts is not None  # noqa: S101 (the choices are shells that click knows)
    put(scripts(click.get_current_context().find_root().command, {}, PROGRAM, COMPLETION_VARIABLE).source())
    return 0
