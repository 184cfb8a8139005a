"""Programs as JSON (docs/formats/json.md). `frontend.py` reads them."""

from compiler.frontends.common.interface import Format

FORMAT = Format(
    name="json",
    noun="program",
    summary="programs as JSON, as written by the target json",
    suffixes=(".program.json",),
    module="compiler.frontends.json.frontend",
    marks="compiler.frontends.json.marks",
    schema="compiler.frontends.json.shapes",
)
