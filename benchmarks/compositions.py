"""How long checking a YAML document takes, against composing its bare tree with libyaml."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.compiling import Worker
from benchmarks.figures import Figure
from benchmarks.rounds import alternate

WORKFLOW = """\
  - name: change-{n}
    agent: developer
    prompt: |
      Make the change that entry {n} of the list asks for, and run the tests.
      End with GREEN if they pass, else with RED and the tests that fail.
    report:
      name: change-{n}
      format: |
        ## Changes
        ## Tests
      validation: "GREEN|RED"
    conditions:
      - keyword: GREEN
        goto: {after}
      - keyword: RED
        goto: change-{n}

"""
LAST = """\
  - name: publish
    prompt: |
      Write down what was changed.
    end: true
"""
SPECIFICATION = """\
  - id: part-{n}
    name: part {n}
    description: Write part {n} from the part before it
    phase: Phase 2 Planning
    inputs:
      artifacts:
        - "{{output_folder}}/part-{before}.md"
    outputs: ["{{output_folder}}/part-{n}.md"]
    validation: Format validation
    evidence: L1
    human_gate: recommended
    retries: {{max: 2, backoff_seconds: 1}}

"""
FIRST = """\
step_specs:
  - id: part-0
    description: Write the first part
    outputs: ["{output_folder}/part-0.md"]

"""


def workflow(steps: int) -> str:
    """An agent workflow of so many steps, each of which may be done again."""
    names = [*(f"change-{n}" for n in range(1, steps)), "publish"]
    parts = (WORKFLOW.format(n=n, after=names[n]) for n in range(1, steps))
    return f"name: changes\n\nsteps:\n{''.join(parts)}{LAST}"


def specification(steps: int) -> str:
    """A specification of so many steps, each of which reads what the one before has written."""
    return FIRST + "".join(SPECIFICATION.format(n=n, before=n - 1) for n in range(1, steps))


DOCUMENTS = {"changes.workflow.yaml": workflow, "parts.stepspec.yaml": specification}


def composing(steps: int = 500, rounds: int = 9, limit: float = 6.0) -> list[Figure]:
    """Check a document of each format against the bare composition of the same file; the best of the rounds."""
    figures = []
    for name, document in DOCUMENTS.items():
        with TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_text(document(steps), encoding="utf-8")
            times = alternate({"check": Worker("check", path), "compose": Worker("compose", path)}, rounds)
        check, compose = (min(times[each]) for each in ("check", "compose"))
        figures.append(Figure(f"check {steps:,} steps, {name}", "composition of the file", check, compose, limit))
    return figures
