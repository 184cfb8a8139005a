"""The JSON Schema of a runbook's frontmatter, for editors; options of all formats are added to it."""

from __future__ import annotations

from compiler.frontends.common.schemas import (
    DURATION,
    NAMES,
    SCENARIO,
    STEP,
    TEXT,
    TRUTH,
    Schema,
    each,
    keys,
    with_keys,
)

INPUT = keys(
    {
        "type": ("The type of the value.", {"enum": ["string", "number", "boolean", "choice"]}),
        "description": ("Shown when rdc asks for the value.", TEXT),
        "default": ("The value if a run gives none.", TEXT),
        "options": ("The values of a `choice`.", NAMES),
        "pattern": ("A regular expression that must match the whole value.", TEXT),
        "required": ("With `false`, an input without a default may be unset.", TRUTH),
    }
)
ASKS = keys(
    {
        "output": ("The output that the reply becomes.", TEXT),
        "type": ("The type of the reply.", {"enum": ["text", "number", "choice"]}),
        "options": ("The values of a `choice`.", NAMES),
        "pattern": ("A regular expression that must match the whole reply.", TEXT),
    }
)
STEP_OF_RUNBOOK = with_keys(
    STEP,
    retry_delay=("The pause before each RETRY.", DURATION),
    retry_backoff=("The factor for the delay each time, a whole number.", {"type": "integer"}),
    env=("Environment variables of the command.", each(TEXT)),
    asks=("The output that the reply to the question becomes.", {"anyOf": [TEXT, ASKS]}),
    by=("With `agent`, an agent does the step, and the command checks the work.", {"enum": ["agent"]}),
)
COMMANDS = "The commands of the run: `rd run FILE`, then `rd pass`, `rd fail` or `rd goto STEP`."


def schema() -> Schema:
    """Return the schema of the frontmatter."""
    own = {"inputs": each(INPUT), "outputs": NAMES, "prose": NAMES, "steps": each(STEP_OF_RUNBOOK)}
    scenario = with_keys(SCENARIO, "result", "description", "inputs", commands=(COMMANDS, NAMES))
    return keys(
        {
            "name": ("A name for readers.", TEXT),
            "description": ("A description for readers.", TEXT),
            "version": ("The version of the document, for readers.", TEXT),
            "author": ("The author, for readers.", TEXT),
            "tags": ("Words for readers.", NAMES),
            "rdc": ("", {"properties": own}),
            "scenarios": ("", each(scenario)),
        }
    )
