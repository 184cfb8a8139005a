"""Names of a workflow's parts in messages."""

from __future__ import annotations

from compiler.frontends.places import Where


def called(where: Where) -> str:
    """Return the name of a part in messages, such as "step `plan`"."""
    match where.path:
        case ():
            return "the workflow"
        case ("steps", int() as number):
            name = where.value.get("name") if isinstance(where.value, dict) else None
            return f"step `{name}`" if isinstance(name, str) and name else f"step {number + 1}"
        case (*_, "parallel", int() as number):
            return f"entry {number} of {called(where.around.around)}"
        case (*_, "conditions", int() as number):
            return f"condition {number + 1} of {called(where.around.around)}"
        case (*_, "report"):
            return f"the report of {called(where.around)}"
        case _:
            return f"`{where.path[-1]}`"
