"""Check the inputs of a scenario against the inputs that its runbook declares (S1, E1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from compiler.frontends.rundown.beyond.declarations import Declarations
from compiler.frontends.rundown.beyond.texts import text_problem
from compiler.scenarios import Unclear
from compiler.source import Span
from runtime_shim.data.fitting import unfit


class Given(Struct, frozen=True):
    """The value of an input as written, with its place."""

    name: str
    value: object
    span: Span | None


def unfit_inputs(declared: Declarations, given: Sequence[Given], begin: Span | None) -> Iterator[Unclear]:
    """Yield the problems with one scenario's inputs; `begin` is the place of its run."""
    inputs = {item.input.name: item.input for item in declared.inputs}
    for one in given:
        if one.name not in inputs:
            listed = f"the inputs are {', '.join(inputs)}" if inputs else "the document declares no inputs"
            yield Unclear(
                f"there is no input `{one.name}`; {listed}",
                one.span,
                "remove it, or declare it under `rdc: {inputs: …}`",
            )
            continue
        known, problem = inputs[one.name], text_problem(one.value)
        if problem := problem or unfit(str(one.value), known.type, known.options, known.pattern):
            said = f"the value of input `{one.name}` is not valid: {problem}"
            yield Unclear(said, one.span, "change the value")
    missing = [name for name, item in inputs.items() if item.required and item.default is None]
    for name in missing:
        if name not in {item.name for item in given}:
            remedy = f"add `inputs: {{{name}: VALUE}}` to the scenario, or `--input {name}=VALUE` to its `rd run`"
            yield Unclear(f"input `{name}` has no default, and the scenario gives no value", begin, remedy)
