"""The draft of a runbook: its steps, questions, sections and marks, and how to print them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal
from urllib.parse import quote, unquote

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.frontends.common.drafts import scalar
from compiler.frontends.rundown.printing import fenced, heading, marked, section
from compiler.importers import markup
from compiler.ir.program import Input
from compiler.reading.comments import MARK
from compiler.text.regex import Regex

Replies = Literal["", "skip", "stop", "end"]
"""The transitions of an item: none; YES continues and NO skips the next items, or stops; or the run ends below it."""


class Mark(Struct, frozen=True):
    """A guess that a person must check: its stable kind, its words, and the line of the source, 0 for none."""

    kind: str
    words: str
    line: int = 0


class Item(Struct, frozen=True):
    """A step of a draft, or a substep.

    `text` is Markdown that is safe below a heading. `code` runs if `tag` is `bash` or `sh`, and is shown otherwise.
    `skips` counts the items that the reply NO skips. `notes` are guesses for the report only. `name` is the identifier
    of a step that no step leads to. A step with `items` has no code.
    """

    title: str
    text: str = ""
    code: str = ""
    tag: str = "bash"
    replies: Replies = ""
    skips: int = 1
    marks: tuple[Mark, ...] = ()
    notes: tuple[Mark, ...] = ()
    line: int = 0
    name: str = ""
    asks: str = ""
    items: tuple[Item, ...] = ()

    @property
    def runs(self) -> bool:
        """Whether the item has a command that rdc runs."""
        return bool(self.code) and self.tag in {"bash", "sh"}

    @property
    def is_command(self) -> bool:
        """Whether the item has a command that rdc runs or shows."""
        return bool(self.code) and self.tag in {"bash", "bash prompt"}

    def shown(self, why: str) -> Item:
        """Return the item with its command only shown."""
        return replace(self, tag="bash prompt", notes=(*self.notes, Mark("shown", why, self.line)))


class Prose(Struct, frozen=True):
    """A section that isn't a step: its heading and its Markdown."""

    title: str
    text: str
    line: int = 0


class Draft(Struct, frozen=True):
    """A runbook to print. `origin` is the path of the source from the draft, with its SHA-256 in `sha256`."""

    title: str
    parts: tuple[Item | Prose, ...]
    name: str = ""
    description: str = ""
    text: str = ""
    inputs: tuple[Input, ...] = ()
    outputs: tuple[str, ...] = ()
    origin: str = ""
    sha256: str = ""
    recipe: str = ""
    marks: tuple[Mark, ...] = ()
    shell: Literal["strict", "plain"] = "strict"

    @property
    def steps(self) -> tuple[Item, ...]:
        """The steps in order."""
        return tuple(part for part in self.parts if isinstance(part, Item))


class Printed(Struct, frozen=True):
    """The text of a draft, and the lines of its headings: by the label of a step, such as `1.2`.

    `sections` has the lines of the other headings, by the line of the page.
    """

    text: str
    lines: dict[str, int] = field(default_factory=dict)
    sections: dict[int, int] = field(default_factory=dict)


def labeled(draft: Draft) -> Iterator[tuple[str, Item]]:
    """Yield the steps and substeps of a draft with their labels, such as `2`, `2.1` and `Rollback`."""
    number = 0
    for step in draft.steps:
        number += not step.name
        label = step.name or str(number)
        yield label, step
        yield from ((f"{label}.{place}", item) for place, item in enumerate(step.items, 1))


def print_draft(draft: Draft) -> Printed:
    """Return the text of a draft, as `rdc fmt` formats it."""
    draft = _with_own_titles(draft)
    blocks = [*_head(draft)]
    lines: dict[str, int] = {}
    sections: dict[int, int] = {}
    labels, after = labeled(draft), _targets(draft)
    line = 1 + sum(block.count("\n") + 2 for block in blocks)
    for part in draft.parts:
        if isinstance(part, Prose):
            sections[part.line] = line
            blocks.append(section(marked("##", one_line(part.title)), part.text, "", ()))
            line += blocks[-1].count("\n") + 2
            continue
        for _ in (part, *part.items):
            label, item = next(labels)
            lines[label] = line
            blocks.append(_item(label, item, after.get(label, "")))
            line += blocks[-1].count("\n") + 2
    return Printed("\n\n".join(blocks) + "\n", lines, sections)


def _with_own_titles(draft: Draft) -> Draft:
    """Return a draft whose sections have other headings than its steps, because `prose` names them by their heading."""
    headings = {_header(label, item).lstrip("# ") for label, item in labeled(draft)}

    def renamed(part: Item | Prose) -> Item | Prose:
        is_taken = isinstance(part, Prose) and one_line(part.title) in headings
        return replace(part, title=f"{part.title} (text)") if is_taken else part

    return replace(draft, parts=tuple(map(renamed, draft.parts)))


def _targets(draft: Draft) -> dict[str, str]:
    """Return the transition that skips the items after a step or substep, by its label."""
    flows: dict[str, list[tuple[str, Item]]] = {}  # the numbered steps are one, and each named step is another
    for label, item in labeled(draft):
        if not item.items:
            step = label.partition(".")[0]
            flows.setdefault("" if step.isdecimal() else step, []).append((label, item))
    found: dict[str, str] = {}
    for name, flow in flows.items():
        for place, (label, item) in enumerate(flow):
            if item.replies == "skip":
                target = next((other for other, _ in flow[place + 1 + item.skips :]), "")
                other = target.partition(".")[0]
                place_of = target if other == label.partition(".")[0] else other
                found[label] = f"GOTO {place_of}" if target else "STOP" if name else "COMPLETE"
    return found


def _item(label: str, item: Item, skipping: str) -> str:
    header = _header(label, item)
    marks = "\n".join(map(mark_line, item.marks))
    code = fenced(item.code, item.tag) if item.code else ""
    header = f"{header}\n\n{marks}" if marks else header
    return section(header, item.text.strip("\n"), code, _transitions(item, skipping))


def _header(label: str, item: Item) -> str:
    step, _, child = label.partition(".")
    title = one_line(item.title).lstrip(":)—→- ")  # the separator below a number would take these, and dots
    first, space, rest = title.partition(" ")
    title = f"`{first}`{space}{rest}" if first.startswith(".") and "`" not in first else title
    return heading(_identifier(step), title, _identifier(child))


def _identifier(label: str) -> int | str:
    return int(label) if label.isdecimal() else label


def _transitions(item: Item, skipping: str) -> tuple[str, ...]:
    if item.replies == "end":
        return ("- PASS: STOP",)
    no = {"skip": skipping, "stop": "STOP"}.get(item.replies, "")
    return ("- YES: CONTINUE", f"- NO: {no}") if no else ()


# --- Questions before a part of a draft -------------------------------------------------------------------------------

_IF = Regex(r"(?i)^(?:if|when)\s+(?=[^,]*$)")
_THEN = Regex(r"(?i)^(\S+ \S+.*?)(?:,? you (?:can|may|should)|, (?:run|try|use) th(?:e|is|ese))\b.*")
_LONGEST_CASE = 80
_EXAMPLE = Regex(r"(?i)for (?:example|instance)\b")
BARE = Regex(r"(?i)(?:and|or|examples?|optional(?:ly)?|alternatively|otherwise|instead)\W*")
"""Matches a condition that says nothing without the command below it."""


def guard(case: str, text: str, line: int, skips: int = 1, subject: str = "") -> Item:
    """Return the question whether a condition holds, which skips the items below it otherwise."""
    mark = Mark("condition", "the command has a condition", line)
    case = _THEN.sub(r"\1", _IF.sub("", case))
    is_in_text = text and (len(case) > _LONGEST_CASE or _EXAMPLE.match(case))
    case = f"{case.rstrip(' :')}: {_inner(subject)}" if subject and BARE.fullmatch(case) else case
    title = f"Do this now: {_inner(subject)}?" if subject and is_in_text else f"Does this apply: {markup.cut(case)}?"
    return Item(title, text, replies="skip", skips=skips, marks=(mark,), line=line)


def _inner(title: str) -> str:
    """Return a title for the middle of a sentence."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def machine_question(line: int, text: str) -> Item:
    """Return the question whether a command is for this machine, which skips it otherwise."""
    mark = Mark("machine", "the text is about another machine", line)
    return Item("Does the next command run on this machine?", text, replies="skip", marks=(mark,), line=line)


def joined(question: Item, harm: Item) -> Item:
    """Return one question for a condition and for the harm of a command."""
    text = "\n\n".join(filter(None, [question.text, harm.text]))
    return replace(question, text=text, notes=question.notes + harm.notes)


def harm_question(title: str, lines: Sequence[str], line: int, above: str) -> Item:
    """Return the question whether to run a command whose `lines` delete or change something, with the text `above`."""
    note = Mark("harm", f"the command changes or deletes something: {lines[0]}", line)
    text = f"{above}\n\nThe next command: {', '.join(map(markup.span, lines))}".lstrip("\n")
    return Item(f"Do this now: {_inner(title)}?", text, replies="skip", notes=(note,), line=line)


def task_question(title: str, line: int, skips: int = 1) -> Item:
    """Return the question whether to do a task beside others, with a line in the report."""
    note = Mark("order", "the page shows no order for this part, so it asks first", line)
    return Item(f"Do this: {markup.cut(title)}?", replies="skip", skips=skips, notes=(note,), line=line)


# --- The head of the document -----------------------------------------------------------------------------------------


def _head(draft: Draft) -> Iterator[str]:
    yield "\n".join(["---", *_frontmatter(draft), "---"])
    if draft.origin:
        recipe = f", recipe {quote(draft.recipe)}" if draft.recipe else ""
        path = quote(draft.origin, safe="/._+@").replace("--", "%2D%2D")
        yield f"<!-- {IMPORTED} {path}{recipe}, sha256 {draft.sha256} -->"
    yield marked("#", one_line(draft.title))
    if draft.marks:
        yield "\n".join(map(mark_line, draft.marks))
    if draft.text.strip("\n"):
        yield draft.text.strip("\n")


def _frontmatter(draft: Draft) -> Iterator[str]:
    if draft.name:
        yield f"name: {scalar(draft.name)}"
    if draft.description:
        yield f"description: {scalar(one_line(draft.description))}"
    yield "rdc:"
    yield f"  shell: {draft.shell}"
    if draft.inputs:
        yield "  inputs:"
        yield from (line for one in draft.inputs for line in _input(one))
    yield from _list("outputs", draft.outputs)
    yield from _list("prose", [one_line(part.title) for part in draft.parts if isinstance(part, Prose)])
    asking = [(label, item.asks) for label, item in labeled(draft) if item.asks]
    if asking:
        yield "  steps:"
        yield from (f'    "{label}": {{asks: {scalar(name)}}}' for label, name in asking)


def _input(declared: Input) -> Iterator[str]:
    keys = {"description": declared.description, "default": declared.default, "pattern": declared.pattern}
    given = {key: value for key, value in keys.items() if value or (key == "default" and value is not None)}
    yield f"    {scalar(declared.name)}:{'' if given else ' {}'}"
    yield from (f"      {key}: {scalar(value)}" for key, value in given.items())


def _list(key: str, values: Sequence[str]) -> Iterator[str]:
    if values:
        yield f"  {key}:"
        yield from (f"    - {scalar(value)}" for value in dict.fromkeys(values))


IMPORTED = "rdc: imported from"

_ORIGIN = Regex(rf"<!-- {IMPORTED} (?P<path>\S+?)(?:, recipe (?P<recipe>\S+))?, sha256 (?P<sha256>[0-9a-f]{{64}}) -->")


def origin_of(text: str) -> tuple[str, str] | None:
    """Return the source that a draft names, as a path from the draft, with the source's SHA-256; None without one."""
    found = next((match for line in text.split("\n") if (match := _ORIGIN.fullmatch(line.strip()))), None)
    return (unquote(found["path"]), found["sha256"]) if found else None


def mark_line(mark: Mark) -> str:
    """Return the comment that a person deletes to accept a guess."""
    words = _COMMENT_END.sub("-", one_line(mark.words).replace("<", "").replace(">", ""))
    where = f" (page line {mark.line})" if mark.line else ""
    return f"<!-- {MARK} {words}{where} -->"


_COMMENT_END = Regex(r"-{2,}")


def one_line(text: str) -> str:
    """Return text on one line, without characters that no one sees."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
