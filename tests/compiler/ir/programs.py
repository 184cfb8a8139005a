"""Programs with every class of the model in them, for what reads and writes programs; few of them mean anything."""

from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec.structs import fields

from compiler.frontends.json.shapes import schema
from compiler.ir.program import Program
from compiler.ir.texts import Reference, Text, joined

WORDS = (
    "",
    "a",
    "1.2",
    "{N}",
    "pass",
    'say "no"\n',
    "]]]",
    "<script>",
    "\u202e\x1b]0;x\x07",
    "Été 🚀",
    "${{ x }}",
    "a" * 300,
)


@cache
def validator() -> Draft202012Validator:
    """Return what checks values against the published schema, which is a schema itself."""
    published = schema()
    Draft202012Validator.check_schema(published)
    return Draft202012Validator(published)


words = st.sampled_from(WORDS) | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9)
numbers = st.integers(-3, 3) | st.sampled_from([2**31 - 1, 1 - 2**31])


def of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type of the model."""
    if kind in (str, int, bool, NoneType):
        return {str: words, int: numbers, bool: st.booleans(), NoneType: st.none()}[kind]
    if kind is Text:
        return st.lists(words | of(Reference), max_size=3).map(joined)
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if get_origin(kind) is tuple:
        return st.lists(of(get_args(kind)[0]), max_size=2).map(tuple)
    if isinstance(kind, UnionType):
        return st.one_of([of(part) for part in get_args(kind)])
    hints = get_type_hints(kind)
    return st.builds(kind, **{item.name: of(hints[item.name]) for item in fields(kind)})


programs: st.SearchStrategy[Program] = st.deferred(lambda: of(Program))
