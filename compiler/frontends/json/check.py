"""Check a program that has the right shape: its names, and the rules of the verifier."""

from collections.abc import Iterator

from msgspec.structs import replace

from compiler.diagnostics.model import DataPath, Issue
from compiler.frontends.json.lower import MOST_SHOWN
from compiler.ir.program import Program, parts_at
from compiler.ir.verify import issues, variables_at
from compiler.ir.verify_tasks import agents_at
from compiler.text.regex import Regex

LONGEST_NAME = 200  # in characters; names appear in messages and in file names

_HASH = Regex(r"[0-9a-f]{64}")
_PAGE = "see the rules of programs in docs/reference/program-rules.md"


def check(program: Program) -> list[tuple[str, Issue]]:
    """Return the issues of a program with their codes. Broken rules are reported only if all names are valid."""
    if unfit := [*_of_sources(program), *_of_names(program)]:
        return unfit[:MOST_SHOWN]
    found = [*_of_rules(program)]
    names = [one for one in found if one[0] == "RD066"]
    return (names or found)[:MOST_SHOWN]


def _of_rules(program: Program) -> Iterator[tuple[str, Issue]]:
    for _, node, issue in issues(program):
        if issue.path[-1:] in {("id",), ("name",)}:
            yield "RD066", issue
        else:
            about = f"node {node}: " if node else ""
            yield "RD067", replace(issue, message=f"{about}{issue.message}", help=issue.help or _PAGE)


def _of_sources(program: Program) -> Iterator[tuple[str, Issue]]:
    for place, source in enumerate(program.sources):
        if not source.path.isprintable() or not source.path:
            remedy = "use printable characters; the path appears in comments of generated files"
            yield "RD066", Issue(("sources", place, "path"), "this is not a valid source path", remedy)
        if not _HASH.fullmatch(source.sha256):
            remedy = "write 64 digits, 0 to 9 and a to f"
            yield "RD065", Issue(("sources", place, "sha256"), "this is not a SHA-256", remedy)


def _of_names(program: Program) -> Iterator[tuple[str, Issue]]:
    for path, name in _names(program):
        if not name or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            shown = f"`{name[:LONGEST_NAME]}`" if name else "an empty string"
            remedy = f"use 1 to {LONGEST_NAME} printable characters, without spaces at either end"
            yield "RD066", Issue(path, f"{shown} is not a valid name", remedy)


def _names(program: Program) -> Iterator[tuple[DataPath, str]]:
    """Yield all names that people see, or that are used outside the program."""
    for place, node in enumerate(program.nodes):
        yield ("nodes", place, "id"), node.id
        yield from variables_at(place, node)
        of_task = ((key, getattr(node.task, key, None)) for key in ("connection", "tool", "gate"))
        yield from ((("nodes", place, "task", key), name) for key, name in of_task if name is not None)
    yield from ((("groups", place, "id"), group.id) for place, group in enumerate(program.groups))
    for field in ("registers", "slots", "contexts", "inputs", "rules"):
        yield from (((field, place, "name"), item.name) for place, item in enumerate(parts_at(program, field)))
    scopes = enumerate(counter.scope for counter in program.counters)
    yield from ((("registers", place, "scope"), scope) for place, scope in scopes if scope)
    yield from (((*path, "agent"), agent.agent) for path, agent in agents_at(program) if agent.agent)
