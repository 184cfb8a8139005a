"""Read the sentences of rules (P-1 to P-4): `3 YES by a person before 4`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from lark import Token
from lark.exceptions import UnexpectedInput, UnexpectedToken
from msgspec import Struct

from compiler.diagnostics.model import Issue
from compiler.reading.grammar import Node, load
from compiler.text.regex import Regex
from compiler.text.suggestions import nearest_name

LONGEST_SENTENCE = 1000  # in characters
MOST_TIMES = 1_000_000
FORMS = "write `A PASS before B`, `no A after B`, `after A FAIL, always B` or `A at most 3 times`"

Form = Literal["before", "no", "always", "at_most"]
Kind = Literal["step", "any", "label", "secret", "end"]


class Mention(Struct, frozen=True):
    """A step or an end that a sentence mentions, with an outcome or "".

    `name` is the id or title of a step, a kind of task, a label, a secret, or COMPLETE, STOP or END. The text of the
    target goes from `start` to `middle`, the rest to `end`.
    """

    kind: Kind
    name: str
    word: str
    by_a_person: bool
    start: int
    middle: int
    end: int


class Sentence(Struct, frozen=True):
    """A sentence; `opens` and `closes` are events, and `guarded` are starts of steps or ends of the run (P-5)."""

    text: str
    form: Form
    guarded: tuple[Mention, ...] = ()
    opens: tuple[Mention, ...] = ()
    closes: tuple[Mention, ...] = ()
    most: int | None = None

    def written(self, *mentions: Mention) -> str:
        """Return the text from the first of these mentions to the last."""
        return self.text[mentions[0].start : mentions[-1].end] if mentions else ""

    def instead(self, mention: Mention, text: str) -> str:
        """Return the sentence with another text for a mention."""
        return self.text[: mention.start] + text + self.text[mention.end :]


def read_sentence(written: str) -> Sentence | Issue:
    """Return the sentence in a text, or the issue in it. White space and line breaks are one space each."""
    text = " ".join(written.split()) if len(written) <= 2 * LONGEST_SENTENCE else written
    if not text.isprintable() or not 0 < len(text) <= LONGEST_SENTENCE:
        problem = f"a rule must be one sentence of 1 to {LONGEST_SENTENCE:,} printable characters"
        return Issue((), problem, FORMS)
    try:
        read = _parsed(text)
    except UnexpectedInput as error:
        return _other_form(text) or _unexpected(text, error)
    return next(_unfit(read), None) or read


def _parsed(text: str) -> Sentence:
    tree: Node = load("rule", "rule", lexer="contextual").parse(text)  # type: ignore[assignment]
    form: Form = tree.data  # type: ignore[assignment]
    first, *others = (_mentions(part) for part in tree.children if not isinstance(part, Token))
    match form:
        case "before":
            return Sentence(text, form, others[0], first, others[1])
        case "no":
            return Sentence(text, form, first, others[1], others[0])
        case "always":
            return Sentence(text, form, (), others[0], first)
        case _:
            return Sentence(text, form, first, most=int(tree.children[-1]))


def _mentions(events: Node | None) -> tuple[Mention, ...]:
    return tuple(map(_mention, events.children)) if events else ()


def _mention(event: Node) -> Mention:
    target, outcome, person = event.children
    name, word = target.children[-1], outcome and outcome.children[0]
    plain = name.split()[-1].lower() if target.data == "any" else name.strip('"')
    places = (target.children[0].start_pos, name.end_pos, (person or word or name).end_pos)
    return Mention(target.data, plain, (word or "").strip('"'), person is not None, *places)


def _unfit(read: Sentence) -> Iterator[Issue]:
    """Yield the parts of a sentence that don't fit where they are."""
    for one in read.guarded:
        target = read.text[one.start : one.middle]
        if one.kind == "end" and read.form == "at_most":
            yield _at(one, f"a run has one end, so `at most` doesn't fit `{target}`", FORMS)
        elif one.middle != one.end:
            problem = f"this is about the start of `{target}`, so it has no outcome here"
            title = f'"{read.written(one)}"'
            quoted = f", or quote a title: `{read.instead(one, title)}`" if title.count('"') == 2 else ""
            yield _at(one, problem, f"write `{read.instead(one, target)}`{quoted}")
    for one in (*read.opens, *read.closes):
        if one.kind == "end":
            remedy = f"write `A PASS before {one.name}` or `no {one.name} after A`"
            yield _at(one, f"`{one.name}` can only be right of `before`, or after `no`", remedy)
        elif one.by_a_person and not one.word:
            example = f"{read.text[one.start : one.middle]} YES by a person"
            yield _at(one, "`by a person` needs an outcome", f"write `{read.instead(one, example)}`")
    if read.most is not None and read.most > MOST_TIMES:
        yield Issue((), f"`at most {read.most}` is too large", f"write a number up to {MOST_TIMES:,}")


def _at(one: Mention, problem: str, remedy: str) -> Issue:
    return Issue((), f"column {one.start + 1}: {problem}", remedy)


def renumbered(written: str, new: Callable[[str], str]) -> str:
    """Return a sentence with other ids of steps; a text that isn't a sentence stays as written."""
    read = read_sentence(written)
    if isinstance(read, Issue):
        return written
    text = read.text
    for one in sorted((*read.guarded, *read.opens, *read.closes), key=lambda one: -one.start):
        if one.kind == "step":
            target = text[one.start : one.middle].replace(one.name, new(one.name))
            text = text[: one.start] + target + text[one.middle :]
    return text


_NAME = r"(\"[^\"]+\"|[^\s,\"]+)"
_NEVER = Regex(rf"never {_NAME} and {_NAME}", re.IGNORECASE)
_IN_EVERY_RUN = Regex(rf"{_NAME} in every run(?: that completes)?", re.IGNORECASE)
_UNLESS = Regex(r"(.+?),? unless (.+)", re.IGNORECASE)
_AFTER = Regex(rf"{_NAME} (?:only )?after (.+)", re.IGNORECASE)
_AND = Regex(r"(.+?) and (.+) (before .+)", re.IGNORECASE)


def _other_form(text: str) -> Issue | None:
    """Return the issue of a sentence that people write although it isn't in the language (P-4)."""
    if found := _NEVER.fullmatch(text):
        remedy = f"write two rules: `no {found[1]} after {found[2]}` and `no {found[2]} after {found[1]}`"
        return Issue((), "`never … and …` isn't a rule", remedy)
    if found := _IN_EVERY_RUN.fullmatch(text):
        return Issue((), "`in every run` isn't a rule", f"write `{found[1]} PASS before COMPLETE`")
    if found := _UNLESS.fullmatch(text):
        return _unless(found[1], found[2])
    if found := _AFTER.fullmatch(text):
        choices = f"`after {found[2]}, always {found[1]}`, or `{found[2]} before {found[1]}`"
        problem = f"people read `{found[1]} after …` in two ways: it must follow, or it must not start earlier"
        return Issue((), problem, f"write {choices}")
    if found := _AND.fullmatch(text):
        return Issue(
            (), "`and` isn't in a rule", f"write two rules: `{found[1]} {found[3]}` and `{found[2]} {found[3]}`"
        )
    return None


def _unless(rule: str, excuse: str) -> Issue:
    if excuse.lower().startswith("input "):
        problem = "a rule can't depend on an input"
        return Issue((), problem, 'ask for it in a step: `Deploy PASS or "Is it urgent?" YES before Announce`')
    before, between, after = rule.partition(" before ")
    instead = f"{before} or {excuse} before {after}" if between else "A PASS or B YES before C"
    return Issue((), "`unless` isn't in a rule", f"write `{instead}`")


_PHRASES = {
    **{f"_{word.upper()}": f"`{word}`" for word in ("before", "after", "until", "always", "times", "or", "no")},
    "_AGAIN_AFTER": "`again after`",
    "_AT_MOST": "`at most`",
    "BY_A_PERSON": "`by a person`",
    "_COMMA": "`,`",
    "INTEGER": "a number",
    "WORD": "a word",
    "STEP": "a step",
}
_KEYWORDS = ("before", "again", "after", "until", "always", "most", "times", "labeled", "secret", "person")
_MOST_TRIED = 16  # the most words of a sentence to correct
_LONGEST_TITLE = 8  # in words
_MOST_SHOWN = 30  # characters of an unexpected word
_WORD = Regex(r"[^\s,\"]+")


def _unexpected(text: str, error: UnexpectedInput) -> Issue:
    """Return the issue of a text that isn't a sentence, with its column and the words that could follow there."""
    if text.count('"') % 2:
        return Issue((), f"column {text.rindex(chr(34)) + 1}: the quote isn't closed", FORMS)
    is_over = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    place = len(text) if is_over else error.column - 1
    here = _WORD.match(text, place)
    found = "the end" if is_over else f"`{here[0][:_MOST_SHOWN] if here else text[place : place + 1]}`"
    expected = error.expected if isinstance(error, UnexpectedToken) else getattr(error, "allowed", None) or ()
    phrases = [phrase for name, phrase in _PHRASES.items() if name in expected]
    wanted = f"expected {_either(phrases)}, found {found}" if phrases else f"{found} doesn't fit here"
    return Issue((), f"column {place + 1}: {wanted}", _corrected(text) or f"quote a title with spaces; {FORMS}")


def _either(phrases: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def _corrected(text: str) -> str:
    """Return the remedy that corrects one keyword or quotes one title, or "" if the text is still no sentence then."""
    words = list(_WORD.finditer(text))
    for word in words if len(words) <= _MOST_TRIED else ():
        meant = nearest_name(word[0].lower(), _KEYWORDS, 0.7)
        tried = text[: word.start()] + meant + text[word.end() :]
        if meant and meant != word[0].lower() and is_sentence(tried):
            return f"write `{tried}`"
    for place, word in enumerate(words) if len(words) <= _MOST_TRIED and '"' not in text else ():
        for last in words[place + 1 : place + _LONGEST_TITLE]:
            tried = f'{text[: word.start()]}"{text[word.start() : last.end()]}"{text[last.end() :]}'
            if is_sentence(tried) and word[0].lower() != "any":
                return f"quote a title with spaces: `{tried}`"
    return ""


def is_sentence(text: str) -> bool:
    """Return whether a text is a sentence without issues."""
    try:
        return next(_unfit(_parsed(text)), None) is None
    except UnexpectedInput:
        return False
