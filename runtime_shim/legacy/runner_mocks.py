"""Mock runs on GitHub: a file of the repository answers for agents and tools, and nothing is called (`mock`)."""

import os
from pathlib import Path

from runtime_shim.legacy.exchange import Answered, Call
from runtime_shim.legacy.mocks import Mocks, mocks_in, reply_to
from runtime_shim.legacy.program import RefusedError, Table
from runtime_shim.legacy.runner_agents import CALLING, KNOWING
from runtime_shim.legacy.runner_calls import Caller
from runtime_shim.legacy.runner_kept import noted_calls
from runtime_shim.legacy.runner_says import one_line

KINDS_OF = {"agent": "agents", "tool": "tools"}  # of a file of mocks, by how the key of a call begins


def read_file(program: Table) -> Mocks:
    """Read the file of mocks, which lies in the workspace."""
    path = program["mock"]
    return mocks_in(path, Path(os.environ.get("GITHUB_WORKSPACE", "."), path).read_text(encoding="utf-8-sig"))


def mocked(caller: Caller, keys: list[str], calls: list[Call], _seconds: int) -> list[Answered]:
    """Answer from the file, each call by its number."""
    path, mocks = caller.run.program["mock"], read_file(caller.run.program)
    found = []
    for key, call in zip(keys, calls):  # noqa: B905 - Python 3.9 has no `strict`
        kind, _, name = key.partition(" ")
        number = noted_calls(caller.folder, f"{one_line(key)}\n")  # this one is noted already
        reply = reply_to(mocks, KINDS_OF[kind], name, number - 1)
        if reply is None:
            raise RefusedError(f"{path} has no answer number {number} under {KINDS_OF[kind]}: {one_line(name)}")
        if reply.text:
            call.shown(reply.text.rstrip("\n"))
        found.append(Answered(reply.text.encode("utf-8", "replace"), reply.trouble))
    return found


def is_mocked(program: Table, name: str) -> bool:
    """Tell whether the file answers for a tool, by connection and name."""
    return reply_to(read_file(program), "tools", name, 0) is not None


CALLING[:] = [mocked]
KNOWING.append(is_mocked)
