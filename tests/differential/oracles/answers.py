"""How answers become words and values: one answer (I11, I12), those of a parallel step (I14), and RDC_OUTPUT (I9).

Written with no regular expression but the author's own: each place of a line is looked at in turn, and a Markdown
parser finds quotations.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt

from tests.differential.case import Json

MARKDOWN = MarkdownIt("commonmark")
MARKS = " #*_`"
FAILING = ("REJECTED", "REJECT", "FAILED", "FAIL", "ERROR", "BLOCKED", "DENIED", "CHANGES_REQUESTED", "NEEDS_FIX")
"""Keywords that fail by their names (W12)."""
NEGATIONS = ("not", "no", "never", "cannot", "unable", "without")
LONGEST_LABEL = 30
LONGEST_ANSWER = 1_048_576


def answer_of(reply: Json, *, may_be_empty: bool = False) -> str | None:
    """What an agent or a tool has answered; None for no answer (I11, I13)."""
    if reply.get("hangs") or reply["exit"]:
        return None
    printed: bytes = reply["answer"].encode("utf-8", "surrogateescape")
    answer = printed.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}").strip(WHITE)
    if len(printed) > LONGEST_ANSWER or not (answer or may_be_empty):
        return None
    return answer


def word_of(answer: str | None, reading: Json, failing: Sequence[str] | None = None) -> str:
    """The word of an agent (I12), or what its having answered says where it has no keywords (I11).

    A parallel step has the failing keywords of its entries.
    """
    keywords = reading.get("keywords", [])
    if not keywords:
        return "fail" if answer is None else "pass"
    if answer is None:
        return "failed"
    answer = _shown(answer)
    found = _verdict(answer, reading, reading.get("failing", []) if failing is None else failing)
    if found not in reading.get("excused", []) and not _is_valid(reading.get("validation"), answer):
        return "invalid"
    return found


def _is_valid(validation: str | None, answer: str) -> bool:
    """Whether a pattern matches without a part of a longer word (W8)."""
    if validation is None:
        return True
    flags = re.compile(validation, re.IGNORECASE).flags
    body = validation.removeprefix("(?s)").removeprefix("(?m)")
    plain = "".join(word if word.strip("_") == word else f" {word.strip('_')} " for word in re.split(r"(\W+)", answer))
    return any(re.search(rf"(?:\b|(?!\w))(?:{body})(?:\b|(?!\w))", one, flags) for one in (answer, plain))


def _verdict(answer: str, reading: Json, failing: Sequence[str]) -> str:
    """The verdict of an answer by the points of W9."""
    keywords, excused = reading["keywords"], reading.get("excused", [])
    sure, unsure = _unquoted(answer)
    if (pattern := reading.get("validation")) and set(keywords) != set(excused):
        groups = list(_whole_lines(pattern, "\n".join(text for _, text in sure)))
        if groups:
            return next((word for word in keywords if _same(word, (groups[-1] or "").strip())), "ambiguous")
    failing = [word for word in keywords if word in failing or word.upper() in FAILING]
    verdicts = [found for is_title, text in sure if (found := _verdict_line(text, is_title, keywords, failing))]
    if verdicts:
        last, labeled = verdicts[-1]
        is_clear = {word for word, _ in verdicts} == {last} or (
            labeled and not any(label for _, label in verdicts[:-1])
        )
        return last if is_clear else "ambiguous"
    deciding = [word for word in keywords if word not in excused]
    listed = [word for word in deciding if word.upper() in FAILING]
    for _, text in [*sure, *unsure]:
        if any(_within(text, deciding, str.__eq__)) or any(_within(text, listed, _alike)):
            return "ambiguous"
    return "none"


def _verdict_line(
    text: str, is_title: bool, keywords: Sequence[str], failing: Sequence[str]
) -> tuple[str, bool] | None:
    """The keyword of a verdict line, and whether it has a label; None if it is no verdict line."""
    for body in _bodies(text):
        if alike := next((word for word in keywords if _same(word, body)), None):
            return (alike, False) if not is_title or alike == body else None
    bare = _without_marks(text)
    for word in failing:
        if bare.startswith(word) and _is_reason(bare[len(word) :]):
            return word, False
    label, colon, value = bare.partition(":")
    found = next((word for body in _bodies(value) for word in keywords if _same(word, body)), None) if colon else None
    label = label.strip(MARKS)
    is_label = any(map(_is_word, label)) and len(label) <= LONGEST_LABEL and not _is_negated(label)
    return (found, True) if found and is_label and not any(_within(label, keywords, _alike)) else None


def _same(word: str, body: str) -> bool:
    return len(word) == len(body) and all(map(_alike, word, body))


def _is_reason(rest: str) -> bool:
    bare = rest.lstrip(MARKS)
    if bare[:1] != "-":
        return bare[:1] in (":", "\u2013", "\u2014") and bare[:1] != ""
    return rest[: len(rest) - len(bare)].endswith(" ") or bare[1:2] in ("", " ")


def _bodies(text: str) -> Iterator[str]:
    """A text with fewer and fewer marks around it."""
    text = text.strip()
    short = text.rstrip(MARKS)
    for end in (text, short, short[:-1].rstrip(MARKS) if short.endswith((".", "!")) else short):
        yield end
        yield _without_marks(end)


def _without_marks(text: str) -> str:
    """A text without the marks and list markers at its start."""
    while text:
        digits = len(text) - len(text.lstrip("0123456789"))
        if text[0] in MARKS:
            text = text[1:]
        elif text[:2] in ("- ", "+ "):
            text = text[2:]
        elif 0 < digits < 10 and text[digits : digits + 2] in (". ", ") "):
            text = text[digits + 2 :]
        else:
            break
    return text


def _is_negated(label: str) -> bool:
    words = "".join(one if _is_word(one) or one in "'\u2019" else " " for one in label.lower()).split()
    return any(word.strip("'\u2019") in NEGATIONS or word.endswith(("n't", "n\u2019t")) for word in words)


def _unquoted(answer: str) -> tuple[list[tuple[bool, str]], list[tuple[bool, str]]]:
    """The lines outside of quotes, code and comments, and those that may be inside; a title has True."""
    lines = answer.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    hidden: set[int] = set()
    unsure: set[int] = set()
    titles: set[int] = set()
    for token in MARKDOWN.parse("\n".join(lines)):
        inside = set(range(*token.map)) if token.map else set()
        if token.type == "blockquote_open":
            hidden |= {one for one in inside if _without_marks(lines[one]).startswith(">")}
        elif token.type == "heading_open":
            titles |= {max(inside) - (token.markup in ("=", "-"))}
        elif token.type == "html_block" and token.content.lstrip().startswith("<!--"):
            hidden |= inside - {max(inside)}
            unsure |= inside if "-->" not in token.content else set()
        elif token.type in ("fence", "code_block"):
            hidden |= inside
            last = lines[max(inside)].strip()
            is_closed = len(inside) > 1 and set(last) == {token.markup[:1]} and len(last) >= len(token.markup)
            unsure |= inside if token.type == "fence" and not is_closed and max(inside) == len(lines) - 1 else set()
    texts = [(number in titles, _uncommented(line).strip()) for number, line in enumerate(lines)]
    shown = [number for number in range(len(lines)) if number not in hidden | unsure]
    return [texts[number] for number in shown], [texts[number] for number in sorted(unsure)]


def _uncommented(line: str) -> str:
    while "<!--" in line and "-->" in line.partition("<!--")[2]:
        before, _, after = line.partition("<!--")
        line = f"{before} {after.partition('-->')[2]}"
    return line


def _whole_lines(pattern: str, text: str) -> Iterator[str | None]:
    """The first groups of the matches that are whole lines, apart from marks."""
    for found in re.finditer(pattern, text, re.IGNORECASE):
        before = text[: found.start()].rpartition("\n")[2]
        after = text[found.end() :].partition("\n")[0].strip(MARKS)
        if found.re.groups and not _without_marks(before) and after in ("", ".", "!"):
            yield found[1]


def _shown(answer: str) -> str:
    """An answer without the escape sequences of terminals: what a terminal shows of it."""
    shown, place = "", 0
    while place < len(answer):
        one = answer[place]
        if one == "\x1b" and answer[place + 1 : place + 2] == "[":
            place = _after_colors(answer, place + 2) or place + 2
        elif one == "\x9b":
            after = _after_colors(answer, place + 1)
            shown, place = (shown, after) if after else (shown + one, place + 1)
        elif one in "\x90\x98\x9d\x9e\x9f" or (one == "\x1b" and answer[place + 1 : place + 2] in tuple("]PX^_")):
            place = _after_hidden(answer, place + (2 if one == "\x1b" else 1))
        elif one == "\x1b":
            end = place + 1
            while end < len(answer) and " " <= answer[end] <= "/":
                end += 1
            is_sequence = end < len(answer) and "0" <= answer[end] <= "~"
            shown, place = (shown, end + 1) if is_sequence else (shown + one, place + 1)
        else:
            shown, place = shown + one, place + 1
    return shown


def _after_colors(answer: str, place: int) -> int:
    """Where a sequence of parameters, intermediate and final characters ends; 0 if it is none."""
    for first, last in (("0", "?"), (" ", "/")):
        while place < len(answer) and first <= answer[place] <= last:
            place += 1
    return place + 1 if place < len(answer) and "@" <= answer[place] <= "~" else 0


def _after_hidden(answer: str, place: int) -> int:
    """Where a string that a terminal does not show ends: at its terminator, or with the line."""
    end = place
    while end < len(answer) and answer[end] not in "\x07\x1b\x9c":
        end += 1
    if answer[end : end + 1] in ("\x07", "\x9c"):
        return end + 1
    if answer[end : end + 2] == "\x1b\\":
        return end + 2
    line = answer.find("\n", place)
    return min(end, line if line >= 0 else end)


def _alike(one: str, other: str) -> bool:
    return one == other or one.lower() == other.lower() or one.upper() == other.upper()


def _within(line: str, keywords: Sequence[str], same: object) -> Iterator[str]:
    """The keywords in a line from left to right; what one has taken is no part of another."""
    assert callable(same)
    place = 0
    while place < len(line):
        here = [word for word in keywords if _stands(word, line, place, same)]
        longest = max(here, key=len, default="")
        if longest:
            yield longest
        place += max(len(longest), 1)


def _stands(word: str, line: str, place: int, same: object) -> bool:
    assert callable(same)
    end = place + len(word)
    if end > len(line) or not all(same(a, b) for a, b in zip(word, line[place:end], strict=True)):
        return False
    return not (place and _is_word(line[place - 1])) and not (end < len(line) and _is_word(line[end]))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def joined(words: Sequence[str], task: Json) -> str:
    """The word of a parallel step whose entries have these words (I14)."""
    for unread in ("failed", "invalid", "ambiguous"):
        if unread in words:
            return unread
    for keyword in task.get("unanimous", []):
        if set(words) == {keyword}:
            return str(keyword)
    counting = [word for word in words if word != "none" and word not in task.get("unanimous", [])]
    failing = [word for word in counting if word in task.get("failing", [])]
    passing = [word for word in counting if word not in failing]
    if task.get("check", "all") == "any":
        return [*passing, *failing, "none"][0]
    if failing:
        return failing[0]
    keywords = {word for entry in task.get("entries", []) for word in entry.get("reading", {}).get("keywords", [])}
    if keywords - set(task.get("unanimous", [])) and len(passing) < len(words):
        return "ambiguous"  # an entry without a verdict reviewed nothing
    return "ambiguous" if len(set(passing)) > 1 else [*passing, "none"][0]


def passed(answers: Sequence[str | None], task: Json) -> str:
    """The word of a parallel step without keywords (I14)."""
    enough = any if task.get("check", "all") == "any" else all
    return "pass" if enough(answer is not None for answer in answers) else "fail"


# --- Texts (I6, I13) --------------------------------------------------------------------------------------------------

Held = Mapping[str, int | str | None]
"""What all registers hold; None is an unset slot."""

WHITE = " \t\n\r\v\f"
"""What is taken off the ends of an answer (I11)."""


def parts_of(text: Any) -> list[Any]:
    """The parts of a text, which in JSON is a string or a list."""
    return [text] if isinstance(text, str) else list(text)


def written(text: Any) -> str:
    """A text as its author wrote it."""
    return "".join(part if isinstance(part, str) else part.get("written", "") for part in parts_of(text))


def filled(text: Any, held: Held, escape: Callable[[str], str] = str) -> str:
    """A text with what the registers hold; nothing that came out of one is looked at again."""
    found = ""
    for part in parts_of(text):
        if isinstance(part, str):
            found += part
        elif (value := held[part["register"]]) is None:
            found += escape(part.get("missing", ""))
        else:
            found += part.get("before", "") + escape(str(value)) + part.get("after", "")
    return found


def in_json(value: str) -> str:
    """A value as it stands within a string of JSON."""
    return json.dumps(value, ensure_ascii=False)[1:-1]


UNREAD = ["none", "invalid", "ambiguous", "failed"]


def keywords_of(task: Json) -> list[str]:
    """The keywords of an agent, or of all entries of a parallel step, each once."""
    readings = [agent.get("reading", {}) for agent in task.get("entries", [task])]
    return list(dict.fromkeys(keyword for reading in readings for keyword in reading.get("keywords", [])))


def words_of(task: Json) -> list[str]:
    """The alphabet of a task; none for a node without one."""
    kind = task["kind"]
    if kind in {"branch", "end"}:
        return []
    if kind == "gate":
        return ["approved", "rejected"]
    if kind in {"agent", "parallel"} and keywords_of(task):
        return [*keywords_of(task), *UNREAD]
    if kind == "ask":
        options = [written(option) for option in task.get("options", [])]
        return {"confirm": ["yes", "no"], "input": ["pass"], "select": options}.get(task["question"], ["pass", "fail"])
    return ["pass", "fail"]


def undone(task: Json) -> str:
    """The word of a task that could not be done."""
    return "failed" if "failed" in words_of(task) else "fail"


# --- Values (I9, I7) and fields (I19) ---------------------------------------------------------------------------------

LONGEST_VALUE = 65_536


class MalformedError(Exception):
    """What was written to RDC_OUTPUT makes the outcome `fail`."""


def fits(value: str) -> bool:
    """Whether a value fits into a variable of the environment (I7)."""
    return len(value.encode()) <= LONGEST_VALUE and "\0" not in value


def values_of(content: str, names: Collection[str]) -> dict[str, str]:
    """The values in what was written; raises an error for anything that is not as I9 has it."""
    found: dict[str, str] = {}
    rest = content
    while rest:
        line, _, rest = rest.partition("\n")
        marks = {mark: line.find(mark) for mark in ("=", "<<") if mark in line}
        if not marks:
            raise MalformedError(line)
        mark = min(marks, key=lambda each: marks[each])
        name, _, value = line.partition(mark)
        if mark == "<<":
            value, rest = _heredoc(value, rest)
        if name not in names or not fits(value):
            raise MalformedError(line)
        found[name] = value
    return found


def _heredoc(word: str, rest: str) -> tuple[str, str]:
    """The value up to the line that is the word, and what comes behind."""
    lines = rest.split("\n")
    if not word or word not in lines:
        raise MalformedError(word)
    end = lines.index(word)
    return "\n".join(lines[:end]), "\n".join(lines[end + 1 :])


def extracted(answer: str, field: str) -> str:
    """The field of the last JSON object that has it, or the whole answer (I19). Every end is tried for every begin."""
    for begin in range(len(answer) - 1, -1, -1):
        if answer[begin] != "{":
            continue
        for end in range(begin + 1, len(answer)):
            if answer[end] == "}" and (found := _object(answer[begin : end + 1])) is not None:
                if field in found:
                    return _plain(found[field]).strip(WHITE)
                break
    return answer


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text, parse_constant=_refused)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_no_text(character) else character for character in text)


def _is_no_text(character: str) -> bool:
    """Whether no target could keep a character: NUL, and half of a pair of surrogates."""
    return character == "\0" or 0xD800 <= ord(character) < 0xE000
