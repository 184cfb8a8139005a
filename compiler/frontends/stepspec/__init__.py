"""The step specification format (docs/formats/stepspec.md). `frontend.py` reads it."""

from compiler.frontends.format import Format
from compiler.frontends.stepspec.options import OPTIONS

FORMAT = Format(
    name="stepspec",
    noun="specification",
    summary="step specifications (YAML or JSON steps with a contract)",
    suffixes=(".stepspec.yaml", ".stepspec.yml", ".stepspec.json"),
    module="compiler.frontends.stepspec.frontend",
    formatter="compiler.frontends.stepspec.formatting",
    drafts="compiler.frontends.call_drafts",
    options=OPTIONS,
)
