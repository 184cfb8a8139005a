"""Read the sentences of rules (P-1 to P-4): `3 YES by a person before 4`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
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

    `name` is the id or title of a step, a kind of task, a label, a secret, or COMPLETE, STOP or END. `target` is its
    text in the sentence, where the mention goes from `start` to `end`, and its name starts `at`.
    """

    kind: Kind
    name: str
    word: str
    by_a_person: bool
    target: str
    start: int
    end: int
    at: int

    def issue(self, problem: str, remedy: str) -> Issue:
        """Return an issue with the column of the mention."""
        return Issue((), f"column {self.start + 1}: {problem}", remedy)


class Sentence(Struct, frozen=True):
    """A sentence; `opens` and `closes` are events, and `guarded` are starts of steps or ends of the run."""

    text: str
    form: Form
    guarded: tuple[Mention, ...] = ()
    opens: tuple[Mention, ...] = ()
    closes: tuple[Mention, ...] = ()
    most: int | None = None

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """All mentions in the order of the text."""
        return tuple(sorted((*self.guarded, *self.opens, *self.closes), key=lambda one: one.at))

    def written(self, *mentions: Mention) -> str:
        """Return the text from the first of these mentions to the last."""
        return self.text[mentions[0].start : mentions[-1].end] if mentions else ""

    def instead(self, mention: Mention, text: str) -> str:
        """Return the sentence with another text for a mention."""
        return self.text[: mention.start] + text + self.text[mention.end :]


def read_sentence(written: str, titles: Collection[str] = ()) -> Sentence | Issue:
    """Return the sentence in a text, or the issue in it. Its help may quote a title. All white space is one space."""
    text = " ".join(written.split()) if len(written) <= 2 * LONGEST_SENTENCE else written
    if not text.isprintable() or not 0 < len(text) <= LONGEST_SENTENCE:
        return Issue((), f"a rule must be one sentence of 1 to {LONGEST_SENTENCE:,} printable characters", FORMS)
    try:
        read = _parsed(text)
    except UnexpectedInput as error:
        return _other_form(text) or _unexpected(text, error, titles)
    return next(_unfit(read), None) or read


def _parsed(text: str) -> Sentence:
    tree: Node = load("rule", "rule", lexer="contextual").parse(text)  # type: ignore[assignment]
    form: Form = tree.data  # type: ignore[assignment]
    first, *others = (_mentions(text, part) for part in tree.children if not isinstance(part, Token))
    match form:
        case "before":
            return Sentence(text, form, others[0], first, others[1])
        case "no":
            return Sentence(text, form, first, others[1], others[0])
        case "always":
            return Sentence(text, form, (), others[0], first)
        case _:
            return Sentence(text, form, first, most=int(tree.children[-1]))


def _mentions(text: str, events: Node | None) -> tuple[Mention, ...]:
    return tuple(_mention(text, *event.children) for event in events.children) if events else ()


def _mention(text: str, target: Node, outcome: Node | None, person: Token | None) -> Mention:
    name, word = target.children[-1], outcome and outcome.children[0]
    plain = name.split()[-1].lower() if target.data == "any" else name.strip('"')
    start, end = target.children[0].start_pos, (person or word or name).end_pos
    shown, at = text[start : name.end_pos], name.start_pos + name.startswith('"')
    return Mention(target.data, plain, (word or "").strip('"'), person is not None, shown, start, end, at)  # type: ignore[arg-type]


def _unfit(read: Sentence) -> Iterator[Issue]:
    """Yield the parts of a sentence that don't fit where they are."""
    for one in read.guarded:
        if one.kind == "end" and read.form == "at_most":
            yield one.issue(f"a run has one end, so `at most` doesn't fit `{one.target}`", FORMS)
        elif one.word or one.by_a_person:
            title = f'"{read.written(one)}"'
            quoted = f", or quote a title: `{read.instead(one, title)}`" if title.count('"') == 2 else ""
            problem = f"this is about the start of `{one.target}`, so it has no outcome here"
            yield one.issue(problem, f"write `{read.instead(one, one.target)}`{quoted}")
    for one in (*read.opens, *read.closes):
        if one.kind == "end":
            remedy = f"write `A PASS before {one.name}` or `no {one.name} after A`"
            yield one.issue(f"`{one.name}` can only be right of `before`, or after `no`", remedy)
        elif one.by_a_person and not one.word:
            better = read.instead(one, f"{one.target} YES by a person")
            yield one.issue("`by a person` needs an outcome", f"write `{better}`")
    if read.most is not None and read.most > MOST_TIMES:
        yield Issue((), f"`at most {read.most}` is too large", f"write a number up to {MOST_TIMES:,}")


def renumbered(written: str, new: Callable[[str], str]) -> str:
    """Return a sentence with other ids of steps; a text that isn't a sentence stays as written."""
    read = read_sentence(written)
    if isinstance(read, Issue):
        return written
    text = read.text
    for one in reversed(read.mentions):
        if one.kind == "step":
            text = text[: one.at] + new(one.name) + text[one.at + len(one.name) :]
    return text


_ID = r"(\"[^\"]+\"|[^\s,\"]+)"
_OTHER_FORMS = (
    (
        rf"never {_ID} and {_ID}",
        "`never … and …` isn't a rule",
        r"write two rules: `no \1 after \2` and `no \2 after \1`",
    ),
    (rf"{_ID} in every run(?: that completes)?", "`in every run` isn't a rule", r"write `\1 PASS before COMPLETE`"),
    (
        r".+? unless input .+",
        "a rule can't depend on an input",
        'ask for it in a step: `Deploy PASS or "Is it urgent?" YES before Announce`',
    ),
    (r"(.+?) before (.+?),? unless (.+)", "`unless` isn't in a rule", r"write `\1 or \3 before \2`"),
    (r".+? unless .+", "`unless` isn't in a rule", "write `A PASS or B YES before C`"),
    (
        rf"{_ID} (?:only )?after (.+)",
        r"people read `\1 after …` in two ways: it must follow, or it must not start earlier",
        r"write `after \2, always \1`, or `\2 before \1`",
    ),
    (r"(.+?) and (.+) (before .+)", "`and` isn't in a rule", r"write two rules: `\1 \3` and `\2 \3`"),
)
"""Sentences that people write although they aren't in the language (P-4), with the problem and the remedy."""


def _other_form(text: str) -> Issue | None:
    for pattern, problem, remedy in _OTHER_FORMS:
        if found := re.fullmatch(pattern, text, re.IGNORECASE):
            return Issue((), found.expand(problem), found.expand(remedy))
    return None


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


def _unexpected(text: str, error: UnexpectedInput, titles: Collection[str]) -> Issue:
    """Return the issue of a text that isn't a sentence, with its column and the words that could follow there."""
    if text.count('"') % 2:
        return Issue((), f"column {text.rindex(chr(34)) + 1}: the quote isn't closed", FORMS)
    is_over = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    place = len(text) if is_over else error.column - 1
    here = _WORD.match(text, place)
    found = "the end" if is_over else f"`{here[0][:_MOST_SHOWN] if here else text[place : place + 1]}`"
    expected = error.expected if isinstance(error, UnexpectedToken) else getattr(error, "allowed", None) or ()
    *phrases, last = [phrase for name, phrase in _PHRASES.items() if name in expected] or [""]
    phrase = f"{', '.join(phrases)} or {last}" if phrases else last
    wanted = f"expected {phrase}, found {found}" if phrase else f"{found} doesn't fit here"
    remedy = next(_corrections(text, titles), f"quote a title with spaces; {FORMS}")
    return Issue((), f"column {place + 1}: {wanted}", remedy)


def _corrections(text: str, titles: Collection[str]) -> Iterator[str]:
    """Yield the remedies that quote one title or correct one keyword, so that the text is a sentence."""
    words = list(_WORD.finditer(text))
    if len(words) > _MOST_TRIED:
        return
    for place, word in enumerate(words) if '"' not in text else ():
        for last in words[place + 1 : place + _LONGEST_TITLE]:
            title = text[word.start() : last.end()]
            tried = f'{text[: word.start()]}"{title}"{text[last.end() :]}'
            if title in titles and is_sentence(tried):
                yield f"quote a title with spaces: `{tried}`"
    for word in words:
        meant = "or" if word[0].lower() == "and" else nearest_name(word[0].lower(), _KEYWORDS, 0.7)
        tried = text[: word.start()] + meant + text[word.end() :]
        if meant and meant != word[0].lower() and is_sentence(tried):
            yield f"write `{tried}`"


def is_sentence(text: str) -> bool:
    """Return whether a text is a sentence without issues."""
    try:
        return next(_unfit(_parsed(text)), None) is None
    except UnexpectedInput:
        return False
