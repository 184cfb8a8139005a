"""Documents without errors of four formats, and places in them."""

from tests.support.editor import CURSOR

RUNBOOK = """\
---
name: deploy
rdc:
  inputs:
    version: {description: The version}
    region: {type: choice, options: [eu, us], default: eu}
  outputs: [backup]
  steps:
    Rollback: {timeout: 10m}
---

# Deploy

## 1. Back up in {{region}}

```bash
echo "backup=$version" >> "$RDC_OUTPUT"
```

- FAIL: GOTO Rollback

## 2. Does {{version}} 😀 work?

- YES: CONTINUE
- NO: GOTO Rollback

## 3. Both

### 3.1 Lint

Look.

- PASS: COMPLETE "{{version}} is live, and {{backup}} is old"

## Rollback to {{backup}}

```bash
./restore "$backup" "$version"
```

- PASS: STOP "undone"
"""
PLAYBOOK = """\
# Note

## INPUTS

- `changes` (text): The changes

## STEP 1: Sort

Sort {{changes}}.

@output(sorted)

## STEP 2: Write

Write {{sorted}} and {{changes}}.
"""
WORKFLOW = """\
name: note
description: Write a note.
steps:
  - name: draft
    prompt: Draft.
    report: {name: draft, format: Any, validation: "GOOD|AGAIN"}
    conditions:
      - keyword: GOOD
        goto: finish
      - keyword: AGAIN
        goto: draft
  - name: finish
    prompt: Repeat draft.md.
    end: true
"""
SPECIFICATION = """\
workflow: {module: notes, workflow: notes, phase: Writing}
config:
  variables: {output_folder: docs, subject: the search}
  executor: ./write
step_specs:
  - id: draft
    description: Write about {subject}
    outputs: ["{output_folder}/notes.md"]
  - id: publish
    inputs: {artifacts: ["{output_folder}/notes.md"]}
"""

FINE = "# T\n\n## 1. Build\n\nDo it.\n\n- FAIL: GOTO Rollback\n\n## Rollback\n\nUndo it.\n"
BROKEN = FINE.replace("GOTO Rollback", "GOTO Rolback")


def at(text: str, place: str) -> str:
    """A text with the cursor in one of its parts."""
    part = place.replace(CURSOR, "")
    assert text.count(part) == 1
    return text.replace(part, place)
