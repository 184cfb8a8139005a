"""The questions before a part of a draft: whether a case holds, which machine it is for, and whether to do it."""

from collections.abc import Sequence

from msgspec.structs import replace

from compiler.importers import markup
from compiler.importers.draft import Item, Mark
from compiler.text.regex import Regex

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
    return replace(
        question, text="\n\n".join(filter(None, [question.text, harm.text])), notes=question.notes + harm.notes
    )


def harm_question(title: str, lines: Sequence[str], line: int) -> Item:
    """Return the question whether to run a command whose `lines` delete or change something."""
    lines = [one for one in lines if one.strip()]
    listed = ", ".join(map(markup.span, lines))
    note = Mark("harm", f"the command changes or deletes something: {lines[0]}", line)
    return Item(
        f"Do this now: {_inner(title)}?", f"The next command: {listed}", replies="skip", notes=(note,), line=line
    )


def task_question(title: str, line: int) -> Item:
    """Return the question whether to do a task beside others, with a line in the report."""
    note = Mark("order", "the page shows no order for this part, so it asks first", line)
    return Item(f"Do this: {markup.cut(title)}?", replies="skip", notes=(note,), line=line)
