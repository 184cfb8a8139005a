"""The page of the environment variables, and the table of all that rdc's code names."""

from __future__ import annotations

import re
from pathlib import Path

from tools.reference.markdown import page, table

ROOT = Path(__file__).parents[2]

OF_STEPS = {
    "RDC_RUN_ID": ("all but plain Makefiles", "The run's id. It stays the same when you resume the run."),
    "RDC_STEP": ("all; plain Makefiles if the command names it", "The step's id, such as `1.2`."),
    "RDC_TITLE": ("all but plain Makefiles", "The step's title."),
    "RDC_ATTEMPT": (
        "all; plain Makefiles if a command names it",
        "The number of the attempt, from 1. A step with RETRY has several.",
    ),
    "RDC_STEP_INSTANCE": ("dynamic steps `{N}`", "The number of the instance, from 1."),
    "RDC_SUBSTEP_INSTANCE": ("dynamic substeps `{n}`", "The number of the instance, from 1."),
    "RDC_OUTPUT": ("steps with outputs", "The file to which a command appends its outputs, as `NAME=value`."),
    "RDC_AGENT_TYPE": ("agents", "The type of the agent. It is empty if the agent has no type."),
    "RDC_ENTRY": ("agents in a parallel step", "The number of the entry, from 0."),
    "RDC_EVIDENCE_FILE": ("executors", "The file to which an executor writes evidence, as JSON."),
    "RDC_DRR_FILE": ("executors", "The file to which an executor writes design rationale records, as JSON."),
}
"""The variables that a step's command, agent or executor gets: where it gets them, and the meaning."""

OF_PROGRAMS = {
    "RDC_AGENT": "The command that answers the prompts of agents. `--agent` overrides it.",
    "RDC_AGENTS": "A file with a line `TYPE=COMMAND` for each type of agent. `--agent-for` and `--agent` override it.",
    "RDC_EXECUTOR": "The command that does the work of specifications. `--executor` overrides it.",
    "RDC_DATABASE": "The database of a worker, as `sqlite:///FILE` or `postgresql://…`. `--database` overrides it.",
    "CLAUDECODE": "If it is set and not empty, rdc assumes that an agent runs the command, and refuses decisions for "
    "people. A compiled program checks this only with `-O operator=full`, or if its document calls agents, tools or "
    "executors. Workers and native Makefiles never check it.",
    **dict.fromkeys(("CODEX_THREAD_ID", "AI_AGENT"), "The same as `CLAUDECODE`."),
    "OTEL_EXPORTER_OTLP_ENDPOINT": "The collector that gets [traces](../how-to/traces.md), which has more variables.",
    "TRACEPARENT": "The trace that a run becomes a part of, if it sends one.",
    "NO_COLOR": "No colors, if it is set and not empty.",
    "TERM": "No colors, if it is `dumb`.",
}
"""The variables that generated programs read, and `rdc run` with them."""

OF_RDC = {
    "NO_COLOR": "No colors, if it is set and not empty. It overrides `FORCE_COLOR`.",
    "FORCE_COLOR": "Colors even if the output isn't a terminal. `0` means not set.",
    "TERM": "No colors, if it is `dumb`.",
    "COLUMNS": "The width of help.",
    "PAGER": "The program that shows long explanations page by page.",
    "CI": "`rdc build` doesn't change `rdc.lock`, if it is set and neither `0` nor `false`.",
    "FONTCONFIG_FILE": "The fonts of pictures, as Graphviz reads it.",
    "RDC_DEBUG": "Shows the traceback of an internal error, if it is set and not empty.",
    "_RDC_COMPLETE": "Set by the completion scripts of `rdc completion`.",
}
"""The variables that the command `rdc` reads."""

OF_WORKFLOWS = {
    "RDC_SOURCE": "In the workflow that `rdc init` writes: the address of the package to install.",
    "RDC_SECRETS": "In generated workflows: the names of the secrets to mask in a step's output.",
}
"""The variables in workflows."""

_INTERNAL = """
    RDC_ANSWERS RDC_APPROVED RDC_ASKED RDC_B RDC_BRANCH RDC_CALL RDC_CALLED RDC_CHECKED RDC_COMMAND RDC_COMMAND_
    RDC_COUNTERS RDC_CR RDC_DEFAULT_ RDC_DO RDC_E RDC_ENVIRONMENT RDC_EVENTS RDC_FILE RDC_FILES RDC_FLAGS RDC_FLOW
    RDC_FORK RDC_GATES RDC_GIVEN RDC_HEAD RDC_ID RDC_IN RDC_INPUTS RDC_INPUT_ RDC_ISSUE RDC_IS_GIVEN RDC_JOINED RDC_LOOP
    RDC_MAKE RDC_MESSAGE_ RDC_MISSING RDC_NAME RDC_NAMES RDC_ONCE RDC_ONWARD RDC_OPENED RDC_OPENS RDC_OPTIONS
    RDC_OPTIONS_ RDC_OURS RDC_PATTERN_ RDC_PLACE RDC_PROGRAM RDC_PROMPT RDC_PYTHON RDC_QUESTIONS
    RDC_QUOTED RDC_REPLIES RDC_RESULT RDC_RESUME RDC_REVIEWS RDC_RULE_ RDC_RUN RDC_SAID_ RDC_SCRIPT RDC_SHA
    RDC_SHOWN RDC_SILENT RDC_START RDC_START_ RDC_STATE RDC_STEPS RDC_TARGETS RDC_TEXT RDC_TOKEN RDC_TOP RDC_TRY
    RDC_USUAL RDC_WORD
"""

INTERNAL = frozenset(_INTERNAL.split())
"""Variables between the parts of one generated file. A name with `_` at its end is a prefix."""

PRODUCT = ("rdc", "compiler", "backends", "runtime_shim", "action.yml")
KINDS = {".py", ".sh", ".jinja", ".yml", ".yaml", ".toml"}
NAME = re.compile(r"(?<![A-Z])_?RDC_[A-Z_]*[A-Z_]")

INTRODUCTION = """\
Commands get the inputs, outputs and secrets of their document as environment variables too. Names that start with
`RDC_` belong to rdc, and a document can't declare one."""

INTERNAL_NOTE = """\
Generated Makefiles and workflows use more variables that start with `RDC_`. They are internal, and another version of
rdc can change them. The variables that you give to `make`, such as `STEP=` and `REPLY=`, are on the page of the [Make
target](../targets/make.md)."""


def environment() -> str:
    """Return the page: the variables for steps, programs, rdc and workflows."""
    given = [(f"`{name}`", where, meaning) for name, (where, meaning) in OF_STEPS.items()]
    return page(
        "Environment variables",
        INTRODUCTION,
        "## For commands of steps",
        table(("variable", "where", "meaning"), given),
        "## Read by generated programs and rdc run",
        _read(OF_PROGRAMS),
        "## Read by rdc",
        _read(OF_RDC),
        "## In workflows",
        _read(OF_WORKFLOWS),
        INTERNAL_NOTE,
    )


def _read(variables: dict[str, str]) -> str:
    return table(("variable", "meaning"), [(f"`{name}`", meaning) for name, meaning in variables.items()])


def listed() -> frozenset[str]:
    """Return all names that the page or the list of internal ones has."""
    return INTERNAL.union(OF_STEPS, OF_PROGRAMS, OF_RDC, OF_WORKFLOWS)


def named() -> dict[str, Path]:
    """Return the names in the product's code, each with a file that has it."""
    files = [
        path for part in PRODUCT for path in ([ROOT / part] if (ROOT / part).is_file() else (ROOT / part).rglob("*"))
    ]
    return {
        name: path
        for path in files
        if path.suffix in KINDS and path.is_file()
        for name in NAME.findall(path.read_text(encoding="utf-8"))
    }
