"""Texts: sequences of strings and references to registers. They are filled in when shown, sent or run (I6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct


class Reference(Struct, frozen=True):  # I6
    """The value of a counter or slot within a text.

    `written` is the author's spelling. An unset slot is replaced by `missing`, any other value by `before`, the value
    and `after`.
    """

    register: str
    written: str = ""
    missing: str = ""
    before: str = ""
    after: str = ""

    def filled(self, value: str | None) -> str:
        """Return the replacement of the reference; `value` is None for an unset slot."""
        return self.missing if value is None else f"{self.before}{value}{self.after}"


Part = str | Reference


class Text(Struct, frozen=True, gc=False):
    """A text. Strings are never adjacent or empty; see `joined`."""

    parts: tuple[Part, ...] = ()

    def __bool__(self) -> bool:
        """Return whether the text has any content."""
        return bool(self.parts)

    def __str__(self) -> str:
        """Return the text with its references as authors wrote them."""
        parts = self.parts
        if len(parts) == 1 and isinstance(parts[0], str):  # the usual case
            return parts[0]
        return "".join(part if isinstance(part, str) else part.written for part in parts)

    @property
    def is_plain(self) -> bool:
        """Whether the text has no references: it is at most one string."""
        parts = self.parts
        return not parts or (len(parts) == 1 and isinstance(parts[0], str))

    @property
    def references(self) -> Iterator[Reference]:
        """The references, in order."""
        return (part for part in self.parts if isinstance(part, Reference))

    def filled(self, values: Mapping[str, str | None], escape: Callable[[str], str] = str) -> str:
        """Return the text with its references replaced by values, in one pass (I6).

        Args:
            values: The value of each register in the text; None for an unset slot.
            escape: A function that escapes each replacement, for example for JSON (I13).
        """
        return "".join(
            part if isinstance(part, str) else escape(part.filled(values[part.register])) for part in self.parts
        )

    def known(self, values: Mapping[str, str]) -> Text:
        """Return the text with the values of some registers in place."""
        return joined([_known(part, values) for part in self.parts]) if values else self


def _known(part: Part, values: Mapping[str, str]) -> Part:
    if isinstance(part, str) or part.register not in values:
        return part
    return part.filled(values[part.register])


def text(written: str) -> Text:
    """Return a text without references."""
    return Text((written,)) if written else Text()


def joined(parts: Iterator[Part] | tuple[Part, ...] | list[Part]) -> Text:
    """Return the text of some parts. Adjacent strings are merged, empty ones dropped."""
    found: list[Part] = []
    strings: list[str] = []  # the strings since the last reference
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
    """Return a text as JSON: a string if it has no references, otherwise a list of strings and references."""
    if all(isinstance(part, str) for part in value.parts):
        return str(value)
    return [part if isinstance(part, str) else _sparse(part) for part in value.parts]


def _sparse(reference: Reference) -> dict[str, str]:
    """Return a reference as JSON, without empty keys."""
    said = {name: getattr(reference, name) for name in ("written", "missing", "before", "after")}
    return {"register": reference.register, **{name: value for name, value in said.items() if value}}
