"""What a picture calls things: steps by short names, counters by what they are for; and who uses which texts."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from msgspec import Struct

from backends.specification import Specification, shown
from compiler.analyses.values import value_flow
from compiler.ir.edges import Clear
from compiler.ir.program import Group, Program, Register, scope_members, texts_of

LONGEST_TITLE = 60
"""In characters: a frame has its title on one line."""

LONGEST_SHOWN = 240
"""In characters: more of a text is never shown, and a title may have the size of its document."""


class Called(Struct, frozen=True):
    """A step, group or register by name, as it is shown in one place; other versions may call it otherwise."""

    full: str
    shown: str

    def __str__(self) -> str:
        """The name as it is shown."""
        return self.shown


Said = tuple[str | Called, ...]
"""Words with names in them."""


def between(separator: str, parts: Iterable[Said]) -> Said:
    """Those of some parts that say anything, with a separator between them."""
    said = [part for part in parts if part]
    if len(said) < 2:  # as nearly always
        return said[0] if said else ()
    found: list[str | Called] = []
    for part in said:
        found += (separator, *part)
    return tuple(found[1:])


class Naming:
    """Short names: within the frame of a nested runbook its path need not be repeated."""

    def __init__(self, program: Program) -> None:
        self._groups = {group.id: group for group in program.groups}
        self._registers = {register.name: register for register in program.registers}
        members = scope_members(program.registers)
        self._plain_scopes = {name for name, found in members.items() if not all(item.role for item in found)}
        self.slots = frozenset(slot.name for slot in program.slots)
        self.flow = value_flow(program)
        self.carried = frozenset(_carried(program))
        self.contract = Specification(program)

    def short(self, name: str, group: str) -> str:
        """The name of a node, a group or a register as it is shown in a group."""
        while group and self._groups[group].kind != "runbook":
            group = self._groups[group].parent
        return name.removeprefix(f"{group}/")

    def called(self, name: str, group: str) -> Called:
        """The same, with the whole name."""
        return Called(name, self.short(name, group))

    def frame(self, group: Group) -> str:
        """The title of a group's frame, on one line."""
        name = self.short(group.id, group.parent) if group.kind == "step" else group.id.removeprefix(f"{group.parent}/")
        title = shown(group.title)
        if group.kind == "runbook":
            return one_line(name if title in ("", name) else f"{title} ({name})")
        return one_line(f"{name} {title}")

    def counter(self, name: str) -> Register:
        """A counter, with what it is for."""
        return self._registers.get(name) or Register(name, "")

    def is_plain_scope(self, name: str) -> bool:
        """Whether a scope has a counter that is for nothing that pictures know, so that a reset of it must be shown."""
        return name in self._plain_scopes


def _carried(program: Program) -> Iterator[str]:
    """The slots that carry an answer to one step, once: it reads them, and whatever comes of it, it clears them."""
    if not program.slots:
        return
    for node in program.nodes:
        read = {item.register for written in texts_of(node) for item in written.references}
        cleared = [{effect.slot for effect in edge.effects if isinstance(effect, Clear)} for edge in node.edges]
        yield from read.intersection(*cleared) if cleared else ()


def free(name: str, taken: Container[str]) -> str:
    """A name that is not taken, as near as possible to one that is wanted."""
    while name in taken:
        name += "'"
    return name


def is_named(slot: str) -> bool:
    """Whether an author gave a slot its name: those that a front end makes for itself begin with a word and a space."""
    return " " not in slot.partition("/")[0]


def one_line(text: str) -> str:
    """A text on one line, without what does not print; a long one is cut."""
    line = printable(text)
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"


def printable(text: str) -> str:
    """The beginning of a text, as much as could be shown, without what does not print."""
    shown = text[:LONGEST_SHOWN]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else " " for c in shown)
    return " ".join(shown.split())
