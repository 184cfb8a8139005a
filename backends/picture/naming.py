"""Names and words in a picture: short names of steps, counters by their purpose, outcomes, the users of each slot."""

from collections.abc import Container, Iterable, Iterator

from msgspec import Struct

from backends.common import remarks
from backends.common.specification import Specification, shown
from compiler.analyses.values import value_flow
from compiler.ir.answers import ANSWERS, is_chosen, spoken
from compiler.ir.edges import Clear
from compiler.ir.program import Counter, Group, Program, scope_members, texts_of
from compiler.ir.tasks import UNREAD, Ask, Task, Verdict

LONGEST_TITLE = 60  # in characters; a frame has its title on one line

LONGEST_SHOWN = 240  # in characters; longer strings are never shown, and a title may be as long as its document


class Called(Struct, frozen=True):
    """The name of a step, group or register, as shown in one place. Other versions may have another name."""

    full: str
    shown: str

    def __str__(self) -> str:
        """Return the name as it is shown."""
        return self.shown


class Term(Struct, frozen=True):
    """A word of the document, such as `RETRY 3`, and its words for people who don't know rdc. Pictures show these."""

    written: str
    plain: str

    def __str__(self) -> str:
        """Return the word of the document."""
        return self.written


Phrase = tuple[str | Called | Term, ...]
"""Words that include names and terms."""


def between(separator: str, parts: Iterable[Phrase]) -> Phrase:
    """Return the non-empty parts, joined by a separator."""
    output = [part for part in parts if part]
    if len(output) < 2:  # true in almost all cases
        return output[0] if output else ()
    found: list[str | Called | Term] = []
    for part in output:
        found += (separator, *part)
    return tuple(found[1:])


class Naming:
    """Short names, without the path of the nested runbook around them. With `is_folded`, a box is a whole step."""

    def __init__(self, program: Program, *, is_folded: bool = False) -> None:
        self.is_folded = is_folded
        self._groups = {group.id: group for group in program.groups}
        self._counters = {counter.name: counter for counter in program.counters}
        members = scope_members(program.counters)
        self.plain_scopes = {name for name, found in members.items() if not all(item.role for item in found)}
        self.slots = frozenset(slot.name for slot in program.slots)
        self.flow = value_flow(program)
        self.carried = frozenset(_carried(program))
        self.stepspec = Specification(program)

    def short(self, name: str, group: str) -> str:
        """Return the name of a node, group or register, as shown in a group."""
        while group and self._groups[group].kind != "runbook":
            group = self._groups[group].parent
        return name.removeprefix(f"{group}/")

    def called(self, name: str, group: str) -> Called:
        """Return the same, with the whole name."""
        return Called(name, self.short(name, group))

    def frame(self, group: Group) -> str:
        """Return the title of a group's frame, on one line."""
        name = self.short(group.id, group.parent) if group.kind == "step" else group.id.removeprefix(f"{group.parent}/")
        title = shown(group.title)
        if group.kind == "runbook":
            return one_line(name if title in ("", name) else f"{title} ({name})")
        return one_line(f"{name} {title}")

    def counter(self, name: str) -> Counter:
        """Return a counter, with its purpose."""
        return self._counters.get(name) or Counter(name, "")


def _carried(program: Program) -> Iterator[str]:
    """Yield the slots that pass an answer to one step once: it reads them, and always clears them."""
    if not program.slots:
        return
    for node in program.nodes:
        read = {item.register for written in texts_of(node) for item in written.references}
        cleared = [{effect.slot for effect in edge.effects if isinstance(effect, Clear)} for edge in node.edges]
        yield from read.intersection(*cleared) if cleared else ()


def free(name: str, taken: Container[str]) -> str:
    """Return a free name that is close to the wanted one."""
    while name in taken:
        name += "'"
    return name


def is_named(slot: str) -> bool:
    """Return whether an author named a slot. Names from front ends start with a word and a space."""
    return " " not in slot.partition("/")[0]


def one_line(text: str) -> str:
    """Return a string on one line, without invisible characters. A long one is truncated."""
    line = printable(text)
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 1].rstrip() + "…"


def printable(text: str) -> str:
    """Return the start of a string, as much as can be shown, without invisible characters."""
    return " ".join(remarks.printable(text[:LONGEST_SHOWN]).split())


PLAIN = {
    Verdict.PASS.value: "worked",
    Verdict.FAIL.value: "failed",
    "none": "no decision",
    "invalid": "not valid",
    "ambiguous": "unclear",
}
"""Outcomes in words for people who don't know rdc, unless a question asks for yes or no."""


def outcome(task: Task, word: str) -> Term | str:
    """Return an outcome. A word that an author chose stays as it is."""
    if is_chosen(task) and (isinstance(task, Ask) or word not in UNREAD):
        return one_line(word)
    written = spoken(task, word)
    return Term(written, written.lower() if written in ANSWERS.values() else PLAIN.get(word, word))
