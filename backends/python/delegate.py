"""Common to targets that call the program: when and why they call it, and the program with its runtime."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Literal

from msgspec import Struct

from backends.base import CallReason, Companion
from backends.common.remarks import listed
from backends.python import PythonBackend
from backends.python.calls import Calls
from compiler.ir.features import Feature, uses
from compiler.ir.program import Node, Program
from compiler.text.source import sha256_of

Operator = Literal["full", "basic"]

BASIC: frozenset[Feature] = frozenset({Feature.COMMANDS, Feature.QUESTIONS})
"""Features that a target needs no program for, if it can run a document at all."""

DOES = {
    Feature.COMMANDS: "runs a command",
    Feature.QUESTIONS: "asks a question",
    Feature.REPLIES: "asks for text or a choice",
    Feature.CHECKLISTS: "has a checklist",
    Feature.AGENTS: "calls an agent",
    Feature.KEYWORDS: "looks for keywords in an answer",
    Feature.TOOLS: "calls a tool",
    Feature.OPTIONAL_TOOLS: "calls a tool that may have no command",
    Feature.PARALLEL: "calls several agents at once",
    Feature.GATES: "waits at a gate",
    Feature.TEXTS: "keeps a value",
    Feature.OUTPUTS: "keeps an output",
    Feature.EXTRACTS: "reads a field of an answer",
    Feature.INPUTS: "takes inputs",
    Feature.TIMEOUTS: "has a time limit",
    Feature.DELAYS: "pauses between attempts",
    Feature.EXPIRY: "waits only some time for a person",
    Feature.VISITS: "has a limit of visits",
    Feature.LIMITS: "limits the number of steps",
    Feature.CONSTANTS: "sets environment variables",
    Feature.SECRETS: "needs secrets",
    Feature.ARTIFACTS: "leaves a file",
    Feature.CONTEXTS: "adds context to prompts",
    Feature.REPORTS: "writes a report",
    Feature.CONTRACTS: "has a contract",
    Feature.NOTICES: "calls a command when it waits or ends",
    Feature.RULES: "has rules",
}
"""What a step or document with a feature does, as the end of a sentence."""

_VAGUE = frozenset({Feature.TEXTS, Feature.CONTEXTS, Feature.LIMITS, Feature.KEYWORDS, Feature.EXTRACTS})
"""Features that follow from others, which are a better explanation."""


def reason(program: Program, native: frozenset[Feature] = BASIC, operator: Operator = "basic") -> CallReason | None:
    """Return all reasons why a target with some native features must call the program, as one, or None."""
    found = list(reasons(program, native))
    if not found:
        path = program.sources[0].path
        return CallReason(path, None, "the option `operator` is `full`") if operator == "full" else None
    place = next((each for each in found if each.span), found[0])
    return CallReason(place.path, place.span, listed([each.clause for each in found]))


def reasons(program: Program, native: frozenset[Feature]) -> Iterator[CallReason]:
    """Yield a reason for each feature that is not native, unless it follows from the others."""
    foreign = [use for use in uses(program) if use.feature not in native]
    found: dict[Feature, list[Node]] = {}
    for use in [use for use in foreign if use.feature not in _VAGUE] or foreign:
        found.setdefault(use.feature, []).extend([use.node] if use.node else ())
    for feature, nodes in found.items():
        if not nodes:
            yield CallReason(program.sources[0].path, None, f"the document {DOES[feature]}")
            continue
        more = f" (and {len(nodes) - 1} more)" if nodes[1:] else ""
        yield CallReason(nodes[0].origin.path, nodes[0].origin.span, f"step {nodes[0].id}{more} {DOES[feature]}")


class Called(Struct, frozen=True):
    """The program that a main file calls, and the files beside it, by their paths from the main file.

    The runtime is the first of them. `calls` are those of the program.
    """

    path: str
    text: str
    edition: str
    files: dict[str, str]
    calls: Calls

    @property
    def sha256(self) -> str:
        """The hash of the program, which the main file checks. The program checks the runtime's."""
        return sha256_of(self.text)

    def companions(self, home: str = "") -> tuple[Companion, ...]:
        """Return the files beside the main one, all in one folder, because the program names the others."""
        program = Companion(self.path, self.text, "program", executable=True, home=home)
        return program, *(Companion(each, text, "program", home=home) for each, text in self.files.items())


def called(program: Program, path: str, operator: Operator = "basic", caller: str = "person") -> Called:
    """Return the program at a path, with the shared files of its folder."""
    backend = PythonBackend()
    options = backend.options.validated({"runtime": "shared", "operator": operator, "caller": caller})
    content, emission = backend.written(program, options)
    folder = PurePosixPath(path).parent
    files = {str(folder / each.path): each.text for each in emission.companions}
    return Called(path, emission.text or "", content.edition, files, content.calls)
