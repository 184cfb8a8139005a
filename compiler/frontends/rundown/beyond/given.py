"""The inputs that a scenario gives, held against those that its runbook declares (S1, E1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from compiler.frontends.rundown.beyond.declarations import Declarations
from compiler.frontends.rundown.beyond.texts import text_problem
from compiler.scenarios import Unclear
from compiler.source import Span


class Given(Struct, frozen=True):
    """The value of an input as it is written, and where."""

    name: str
    value: object
    span: Span | None


def unfit_inputs(declared: Declarations, given: Sequence[Given], begin: Span | None) -> Iterator[Unclear]:
    """What is wrong with the inputs of one scenario; `begin` is where its run begins."""
    from runtime_shim.data.fitting import unfit  # noqa: PLC0415 (few documents have inputs)

    inputs = {item.input.name: item.input for item in declared.inputs}
    for one in given:
        if one.name not in inputs:
            listed = f"the inputs are {', '.join(inputs)}" if inputs else "the document has none"
            yield Unclear(
                f"there is no input `{one.name}`; {listed}",
                one.span,
                "remove it, or declare it under `rdc: {inputs: …}`",
            )
            continue
        known, problem = inputs[one.name], text_problem(one.value)
        if problem := problem or unfit(str(one.value), known.type, known.options, known.pattern):
            said = f"the value of the input `{one.name}` does not fit: {problem}"
            yield Unclear(said, one.span, "give one that fits")
    missing = [name for name, item in inputs.items() if item.required and item.default is None]
    for name in missing:
        if name not in {item.name for item in given}:
            remedy = f"add `inputs: {{{name}: VALUE}}` to the scenario, or `--input {name}=VALUE` to its `rd run`"
            yield Unclear(f"the input `{name}` has no default and is not given", begin, remedy)
