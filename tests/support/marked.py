"""Marks of documents in memory, small documents of each format, and what must hold of all marks."""

from itertools import pairwise
from textwrap import dedent

from compiler.driver import Opened, Settings, marks_of
from compiler.frontends.common.marks import Kind, Marks, Role
from compiler.project.project import Project
from compiler.text.source import Source, Span
from tests.conftest import ROOT

RUNBOOK = dedent(
    """\
    ---
    name: release
    rdc:
      inputs:
        version: {description: The version}
      outputs: [backup]
      steps:
        "3": {labels: [production]}
        Restore: {labels: [undo]}
      rules:
        once: Restore at most 9 times
    scenarios:
      good:
        inputs: {version: 1.5}
        commands: [rd run release.runbook.md --prompted, rd goto Restore, rd pass]
        result: COMPLETE
    ---

    # Release

    ## 1. Back up

    ```bash
    echo "backup=$version" >> "$RDC_OUTPUT"
    ```

    - FAIL: RETRY 2 GOTO Restore

    ## 2. Install {{version}}

    ### 2.1 One

    - YES: GOTO 2.Last
    - NO: STOP "no {{backup}}"

    ### 2.Last

    - lint.runbook.md

    ## 3. Does {{version}} look right?

    - NO: GOTO Restore

    ## Restore

    Use {{backup}} and {{other}}.
    """
)
PLAYBOOK = dedent(
    """\
    ---
    scenarios:
      short:
        inputs: {topic: cats}
        agents: {"1": a, "2a": b}
        result: COMPLETE
    ---

    # Report

    ## INPUTS

    - `topic` (string): The topic

    ## STEP 1: Draft

    On {{topic}}.
    @output(draft)

    ## STEP 2: Check

    @elicit(confirm, "Is {{draft}} fine?")
    @prompt(file:prompts/check.md)

    ```if topic == "cats"```

    ### STEP 2a: Praise

    {{draft}} {{__elicit_step_2}} {{unknown}}

    ```endif```
    """
)
WORKFLOW = dedent(
    """\
    name: w
    rdc:
      steps: {review: {timeout: 5m}}
    steps:
      - name: plan
        agent: planner
        prompt: |
          Plan: it.
        next: review
      - name: review
        parallel:
          - {agent: critic, prompt: Look}
        conditions:
          - {keyword: REDO, goto: plan}
          - keyword: DONE
            goto: "ship"

      - name: ship
        prompt: Ship it
    """
)
SPECIFICATION = dedent(
    """\
    config:
      variables: {output_folder: out, subject: cats}
    rdc:
      steps:
        draft: {labels: [first]}
    step_specs:
      - id: draft
        description: About {subject}
        outputs: ["{output_folder}/a.md"]
      - {id: check, inputs: {artifacts: ["{output_folder}/a.md"]}}
    """
)
PROGRAM = dedent(
    """\
    {
      "title": "p",
      "inputs": [{"name": "topic"}],
      "slots": [{"name": "topic"}, {"name": "text"}],
      "entry": "write",
      "nodes": [
        {
          "id": "write",
          "task": {"kind": "agent", "agent": "writer", "prompt": ["On ", {"register": "topic"}]},
          "edges": [{"effects": [{"kind": "keep", "slot": "text"}], "target": "end"}]
        },
        {"id": "end", "task": {"kind": "end", "result": "complete", "message": [{"register": "text"}]}}
      ]
    }
    """
)
DOCUMENTS = {
    "release.runbook.md": RUNBOOK,
    "report.playbook.md": PLAYBOOK,
    "w.workflow.yaml": WORKFLOW,
    "s.stepspec.yaml": SPECIFICATION,
    "p.program.json": PROGRAM,
}
"""A small document of each format with all kinds of names, by file name."""


def opened(name: str, text: str) -> Opened:
    """A document that is only in memory."""
    return Opened(name, Project(str(ROOT / "nowhere")), Source.from_text(name, text))


def marked(name: str, text: str) -> Marks:
    """The marks of a document that is only in memory."""
    return marks_of(opened(name, text), Settings())


def shown(marks: Marks, *kinds: Kind) -> list[str]:
    """The marks as `LINE:COLUMN id`, definitions with `=`, of these kinds or of all but keys."""
    wanted = kinds or tuple(kind for kind in Kind if kind is not Kind.KEY)
    signs = {Role.DEFINITION: "=", Role.REFERENCE: ""}
    return [f"{one.span.line}:{one.span.column} {signs[one.role]}{one.id}" for one in marks if one.kind in wanted]


def text_at(text: str, span: Span) -> str:
    """The text of a span on one line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[span.line - 1][span.column - 1 : span.end_column - 1]


def check_marks(marks: Marks, text: str) -> None:
    """What must hold of all marks: names are where they say, in order, and don't overlap."""
    for one in marks:
        assert one.span.line == one.span.end_line
        assert one.name == text_at(text, one.span) != ""
        assert one.id.endswith(one.name)
        assert bool(one.extent) == (one.role is Role.DEFINITION)
        if one.extent:
            start, end = (one.extent.line, one.extent.column), (one.extent.end_line, one.extent.end_column)
            assert start <= (one.span.line, one.span.column) < end
    for first, second in pairwise(marks):
        behind = (first.span.end_line, first.span.end_column)
        assert behind <= (second.span.line, second.span.column), (first, second)
