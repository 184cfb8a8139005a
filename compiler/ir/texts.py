"""Texts: rows of strings and references to registers, filled in when they are shown, sent or run (I6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct


class Reference(Struct, frozen=True):
    """The value of a counter or slot within a text.

    `written` is what the author wrote for it. Where the register is a slot that is unset, `missing` stands there alone;
    else `before`, the value and `after` (I6).
    """

    register: str
    written: str = ""
    missing: str = ""
    before: str = ""
    after: str = ""

    def filled(self, value: str | None) -> str:
        """What stands in the place of the reference; `value` is None for an unset slot."""
        return self.missing if value is None else f"{self.before}{value}{self.after}"


Part = str | Reference


class Text(Struct, frozen=True, gc=False):
    """A text. Strings stand between references, never beside each other, and none is empty: see `joined`."""

    parts: tuple[Part, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything in it."""
        return bool(self.parts)

    def __str__(self) -> str:
        """The text with its references as their authors wrote them."""
        parts = self.parts
        if len(parts) == 1 and isinstance(parts[0], str):  # as most are
            return parts[0]
        return "".join(part if isinstance(part, str) else part.written for part in parts)

    @property
    def is_plain(self) -> bool:
        """Whether there is no reference in it: it is one string at most."""
        parts = self.parts
        return not parts or (len(parts) == 1 and isinstance(parts[0], str))

    @property
    def references(self) -> Iterator[Reference]:
        """The references, in order."""
        return (part for part in self.parts if isinstance(part, Reference))

    def filled(self, values: Mapping[str, str | None], escape: Callable[[str], str] = str) -> str:
        """The text with values instead of its references, in one pass (I6).

        Args:
            values: The value of each register that the text refers to; None for an unset slot.
            escape: What is done to what stands for a reference, as where the text is JSON (I13).
        """
        return "".join(part if isinstance(part, str) else _value(part, values, escape) for part in self.parts)

    def known(self, values: Mapping[str, str]) -> Text:
        """The text with the values of some registers instead of the references to them."""
        return joined([_known(part, values) for part in self.parts]) if values else self


def _value(reference: Reference, values: Mapping[str, str | None], escape: Callable[[str], str]) -> str:
    return escape(reference.filled(values[reference.register]))


def _known(part: Part, values: Mapping[str, str]) -> Part:
    if isinstance(part, str) or part.register not in values:
        return part
    return part.filled(values[part.register])


def text(written: str) -> Text:
    """A text without references."""
    return Text((written,)) if written else Text()


def joined(parts: Iterator[Part] | tuple[Part, ...] | list[Part]) -> Text:
    """The text of some parts: neighbouring strings become one, empty ones go."""
    found: list[Part] = []
    strings: list[str] = []  # those since the last reference
    for part in parts:
        if isinstance(part, str):
            strings.append(part)
            continue
        if string := "".join(strings):
            found.append(string)
        strings.clear()
        found.append(part)
    if string := "".join(strings):
        found.append(string)
    return Text(tuple(found))


def to_plain(value: Text) -> str | list[str | dict[str, str]]:
    """A text in JSON: one without references is a string, any other one a list of strings and references."""
    if all(isinstance(part, str) for part in value.parts):
        return str(value)
    return [part if isinstance(part, str) else _sparse(part) for part in value.parts]


def _sparse(reference: Reference) -> dict[str, str]:
    """A reference in JSON, without what is empty."""
    said = {name: getattr(reference, name) for name in ("written", "missing", "before", "after")}
    return {"register": reference.register, **{name: value for name, value in said.items() if value}}
