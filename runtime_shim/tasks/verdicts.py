"""Verdicts: the word of an answer, and how to join those of several agents. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple

# Keywords that fail by their names.
LISTED = ("rejected", "reject", "failed", "fail", "error", "blocked", "denied", "changes_requested", "needs_fix")
_OPENING = "(?:\x1b[]PX^_]|[\x90\x98\x9d-\x9f])"  # of text that terminals hide, such as the address of a link
_CODE = "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
_ESCAPES = f"({_OPENING}[^\x07\x1b\x9c]*)(\x07|\x1b\\\\|\x9c)?|{_CODE}|\x1b[ -/]*[0-~]"
_UNENDED = f"{_OPENING}[^\n]*|{_CODE}"
_MARKS = " #*_`"
_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?: +|$)")
_BEFORE = re.compile(r"(?:[ #*_`]|(?:[-+]|\d{1,9}[.)]) )*")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_HTML = r"<(!--|(?:pre|script|style|textarea|blockquote)\b)"
_UNDERLINE = r" {0,3}(?:=+|-+)\s*$"
_NEGATION = r"\b(?:not|no|never|cannot|unable|without)\b|n['\u2019]t\b"
_DASH = re.compile(r"[:\u2013\u2014]|\s-|-(?=\s|$)")
_LONGEST_LABEL = 30
REMEDY = "write the verdict on a line of its own"

# --- Patterns --------------------------------------------------------------------------------------------------------

_EMPHASIS = r"(?<!\w)_+|(?<!_)_+(?!\w)"
_WHOLE = r"(?:(?<!\w)|(?!\w))"  # not inside a word
_AROUND = r"(?m:^)(?:[ \t#*_`]|(?:[-+]|\d{1,9}[.)])[ \t]){0,20}", r"[ \t#*_`]{0,20}[.!]?[ \t#*_`]{0,20}(?m:$)"
Search = Callable[[str, str, str], Any]


def _wrapped(pattern: str, before: str, after: str) -> str:
    first: str = re.findall(r"\A(?:\(\?[a-zA-Z]+\))*", pattern)[0]
    return f"{first}{before}(?:{pattern[len(first) :]}{chr(10) if 'x' in first else ''}){after}"


def look(function: str, pattern: str, answer: str) -> Any:  # a boolean or a list
    """Return whether a pattern matches (`search`), or the first group of its last match (`last`), if any."""
    made = re.compile(pattern, re.IGNORECASE)
    if function == "last":
        return [found[1] or "" for found in made.finditer(answer)][-1:] if made.groups else []
    return made.search(answer) is not None


def is_found(pattern: str, answer: str, search: Search = look) -> bool:
    """Return whether a validation pattern matches somewhere in an answer, but not in a part of a word."""
    whole, bare = _wrapped(pattern, _WHOLE, _WHOLE), re.sub(_EMPHASIS, " ", answer)
    return bool(search("search", whole, answer) or (bare != answer and search("search", whole, bare)))


# --- Lines -----------------------------------------------------------------------------------------------------------


class _Line(NamedTuple):
    """A line of an answer, without the parts that a reader of Markdown does not see as text."""

    number: int
    text: str
    is_heading: bool
    is_sure: bool  # it can't be a part of a quotation


class _Reader:
    """Finds the lines of an answer in Markdown that are not in quotes, code blocks and comments."""

    def __init__(self) -> None:
        self._fence, self._closing = "", ""  # the opened fence, and what ends the opened comment or element
        self._columns, self._start = [0], 0  # where the text of open list items and of this line starts
        self._in_paragraph = self._in_comment = False
        self._unclosed: list[_Line] = []

    def lines(self, answer: str) -> list[_Line]:
        """Return the lines that can have a verdict. Lines after something that isn't closed are not sure."""
        found: list[_Line] = []
        written = re.split("\r\n?|\n", answer)
        for number, (line, below) in enumerate(zip(written, (*written[1:], "")), 1):
            text = self._shown(line.expandtabs(4))
            is_code = bool(text.strip()) and self._is_code(text)
            is_underlined = below[:1] in ("=", "-", " ") and bool(re.match(_UNDERLINE, below))
            heading = is_underlined or text[self._start :].lstrip(" ").startswith("#")
            if self._fence or self._closing:
                self._unclosed.append(_Line(number, line.strip(), heading, False))
            elif is_code or self._unclosed:
                self._unclosed.clear()
            if not text.strip():
                self._in_paragraph = self._in_comment = False
            elif not is_code and text[self._start :].lstrip(" ").startswith(">"):  # a quotation
                self._in_paragraph = bool(text[self._start :].strip("> -+*"))
            elif not is_code:
                found.append(_Line(number, text.strip(), heading, not self._in_comment and "<!--" not in text))
                self._in_comment |= "<!--" in text
        return found + self._unclosed

    def _shown(self, line: str) -> str:
        """Return a line without the parts inside comments and quoting elements."""
        shown, place, is_first = [""], 0, True
        while self._closing or ("<" in line and not self._fence and line.lstrip(" ")[:1] != ">"):
            if self._closing:
                end = re.compile(self._closing, re.IGNORECASE).search(line, place)
                if end is None:
                    return " ".join(shown)
                place, self._closing = end.end(), ""
            opening = re.compile(_HTML, re.IGNORECASE).search(line, place)
            if opening is None:
                break
            before, closing = line[place : opening.start()], "-->" if opening[1] == "!--" else f"</{opening[1]}>"
            is_first = is_first and not before.strip(" -+*")
            if not is_first and not re.compile(closing, re.IGNORECASE).search(line, opening.end()):
                break
            shown.append(before)
            place, self._closing = opening.end(), closing
        return " ".join((*shown, line[place:]))

    def _is_code(self, text: str) -> bool:
        """Return whether a line is code. Keep track of lists, fences and paragraphs (CommonMark)."""
        indent = len(text) - len(text.lstrip(" "))
        item = _ITEM.match(text, indent)
        is_new = item or self._fence or not self._in_paragraph or text[indent] in "#>`~"
        while is_new and indent < self._columns[-1]:
            self._columns.pop()
            self._fence = ""
        if self._fence:
            bare = text.strip()
            if len(bare) >= len(self._fence) and not bare.strip(self._fence[0]):
                self._fence = ""
            return True
        if indent >= self._columns[-1] + 4 and not self._in_paragraph:
            return True
        while item:
            indent = item.end()
            self._columns.append(indent)
            self._in_comment, item = False, _ITEM.match(text, indent)
        fence = _FENCE.match(text, indent)
        self._fence = (fence[1] or fence[2]) if fence else ""
        self._start, self._in_paragraph = indent, not fence and indent < len(text.rstrip(" "))
        self._in_comment = self._in_comment and not fence and text[indent : indent + 1] != "#"
        return bool(fence)


# --- Verdicts --------------------------------------------------------------------------------------------------------


class Reading(NamedTuple):
    """How to read a verdict: the keywords, the failing ones, and those excused from the validation."""

    keywords: Sequence[str]
    validation: "str | None" = None
    excused: Sequence[str] = ()
    failing: Sequence[str] = ()


class _Keywords:
    """Looks for keywords in lines."""

    def __init__(self, reading: Reading, answer: str) -> None:
        self.known = {keyword.casefold(): keyword for keyword in reading.keywords}
        self._failing = {*reading.failing, *(self.known[word] for word in LISTED if word in self.known)}
        self._longest = max(map(len, self.known), default=0) + _LONGEST_LABEL
        folded, excused = answer.casefold(), set(reading.excused)
        present = [word for key, word in self.known.items() if key in folded]
        deciding = [word for word in present if word not in excused]
        self._any_case = _words(present, re.IGNORECASE)
        self._exact = _words(deciding, 0)
        self._listed = _words([word for word in deciding if word.casefold() in LISTED], re.IGNORECASE)

    def verdict(self, line: _Line) -> tuple[str, bool]:
        """Return the keyword of a verdict line, or "", and whether it has a label."""
        text = line.text
        found, written = self._whole(text)
        if found:
            return ("" if line.is_heading and found != written else found), False
        bare = _BEFORE.sub("", text, 1)
        heads = (bare[: dash.start()].strip(_MARKS) for dash in _DASH.finditer(bare, 0, self._longest))
        if failing := next((head for head in heads if head in self._failing), ""):
            return failing, False
        label, colon, rest = bare.partition(":")
        found = self._whole(rest)[0] if colon else ""
        return (found if found and self._is_label(label.strip(_MARKS)) else ""), True

    def named(self, text: str) -> str:
        """Return a keyword that a sentence names, or ""."""
        found = self._exact.search(text) or self._listed.search(text)
        return found[1] if found else ""

    def _whole(self, text: str) -> tuple[str, str]:
        """Return the keyword that is a whole text apart from marks, or "", and how it is written."""
        text = text.strip()
        short = text.rstrip(_MARKS)
        for one in (text, short, short[:-1].rstrip(_MARKS) if short.endswith((".", "!")) else short):
            for written in (one, _BEFORE.sub("", one, 1)):
                if found := self.known.get(written.casefold()):
                    return found, written
        return "", ""

    def _is_label(self, label: str) -> bool:
        is_short = bool(re.search(r"\w", label)) and len(label) <= _LONGEST_LABEL
        return is_short and not re.search(_NEGATION, label, re.IGNORECASE) and not self._any_case.search(label)


def _words(keywords: Iterable[str], flags: int) -> re.Pattern[str]:
    """Return a pattern for whole words. Underscores around a word are emphasis; those inside belong to it."""
    alternatives = "|".join(map(re.escape, sorted(keywords, key=len, reverse=True))) or "(?!)"
    return re.compile(rf"(?<!\w)_*({alternatives})(?!_*[^\W_])", flags)


def read_word(answer: "str | None", reading: Reading, search: Search = look) -> tuple[str, str]:
    """Return the word of an answer, and why it has no verdict, if so; an answer may be missing."""
    if not reading.keywords:
        return ("pass" if answer else "fail"), ""
    if not answer:
        return "failed", ""
    answer = re.sub(_ESCAPES, _seen, answer)
    found, trouble = _verdict(answer, reading, search)
    is_excused = found in reading.excused and not trouble
    if reading.validation is not None and not is_excused and not is_found(reading.validation, answer, search):
        return "invalid", ""
    return ("ambiguous", trouble) if trouble else (found or "none", "")


def _seen(escape: re.Match[str]) -> str:
    """Return what a terminal shows of an escape sequence: the other lines, if its hidden text has no end."""
    return re.sub(_UNENDED, "", escape[1]) if escape[1] and not escape[2] else ""


def _verdict(answer: str, reading: Reading, search: Search) -> tuple[str, str]:
    """Return the verdict of an answer, or "", and why it is ambiguous."""
    lines, keywords = _Reader().lines(answer), _Keywords(reading, answer)
    pattern = reading.validation or ""
    if "(" in pattern and set(reading.keywords) - set(reading.excused):
        shown = "\n".join(line.text for line in lines if line.is_sure)
        for group in search("last", _wrapped(pattern, *_AROUND), shown):
            found = keywords.known.get(group.strip().casefold(), "")
            return found, "" if found else f"its line for the validation pattern names no keyword; {REMEDY}"
    verdicts = [(line, *said) for line in lines if line.is_sure and (said := keywords.verdict(line))[0]]
    if verdicts:
        last, word, labeled = verdicts[-1]
        first = next((one for one in verdicts if one[1] != word), verdicts[-1])
        if first[1] == word or (labeled and not any(one[2] for one in verdicts[:-1])):
            return word, ""
        return "", f"it has two verdicts: {first[1]} in line {first[0].number} and {word} in line {last.number}"
    for line in lines:
        if word := keywords.named(line.text):
            return "", f"{word} in line {line.number} is part of a sentence or quotation; {REMEDY}"
    return "", ""


# --- Parallel steps --------------------------------------------------------------------------------------------------


class Joining(NamedTuple):
    """How to join the words of entries; `decides` if they have keywords that are not unanimous."""

    check: str
    failing: Sequence[str] = ()
    unanimous: Sequence[str] = ()
    decides: bool = False


def joined_word(words: Sequence[str], joining: Joining) -> str:
    """Return the word that the words of entries give together."""
    for trouble in ("failed", "invalid", "ambiguous"):
        if trouble in words:
            return trouble
    unanimous, failing = set(joining.unanimous), set(joining.failing)
    if words[0] in unanimous and len(set(words)) == 1:
        return words[0]
    counted = [word for word in words if word != "none" and word not in unanimous]
    bad = [word for word in counted if word in failing]
    good = [word for word in counted if word not in failing]
    if joining.check == "any":
        return (good or bad or ["none"])[0]
    if bad:
        return bad[0]
    is_split = len(set(good)) > 1 or (joining.decides and len(good) < len(words))
    return "ambiguous" if is_split else (good or ["none"])[0]


def split_words(names: Sequence[str], words: Sequence[str], joining: Joining) -> str:
    """Return why words of entries that are clear on their own are ambiguous together."""
    silent = [name for name, word in zip(names, words) if word == "none" or word in joining.unanimous]
    if silent:
        return f"{', '.join(silent)}: no verdict, so nothing was reviewed; {REMEDY}"
    return "the verdicts differ: " + ", ".join(f"{name} {word}" for name, word in zip(names, words))


def joined_answer(answers: "Iterable[str | None]") -> str:
    """Return the text of a parallel step: its answers, separated by empty lines."""
    return "\n\n".join(answer for answer in answers if answer)
