"""Programs written as JSON: docs/formats/json.md. This says what the format is; `frontend.py` is what reads it."""

from compiler.frontends.format import Format

FORMAT = Format(
    name="json",
    noun="program",
    summary="programs as JSON, as the target json writes them",
    suffixes=(".program.json",),
    module="compiler.frontends.json.frontend",
)
