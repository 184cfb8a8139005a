"""`rdc guard`: the hook of agents' hosts."""

import sys

import click

from rdc.agents.guard import MOST_BYTES, refusal
from rdc.terminal.output import tell


@click.command(name="guard")
def command() -> int:
    """Refuse what is for people, as a hook of Claude Code or Codex.

    It reads an event as JSON on standard input. Before a tool, it refuses commands that decide about a run, and edits
    of served documents, `.rdc`, `rdc.toml`, `rdc.lock` and settings of hosts. At the end of a turn, it refuses once
    while a run waits for the agent. It also refuses an event that it can't read. `rdc mcp --print` shows the settings.

    Exit codes: 0 not refused, 2 refused, with the reason on standard error.
    """
    reason = refusal(sys.stdin.buffer.read(MOST_BYTES + 1))
    if reason:
        tell(f"rdc: {reason}")
    return 2 if reason else 0
