"""How an answer becomes text and fields: pure, the same for every target."""

import json
import re
from typing import Any

LARGEST_ANSWER = 1 << 20  # bytes
AGENT_SECONDS, TOOL_SECONDS = 1800, 30  # the default time limits
MOST_READ = 1 << 24  # characters that turn out not to be JSON
SPACES = " \t\n\r\v\f"
NO_TEXT = "[\0\ud800-\udfff]"


def decoded(answer: bytes) -> str:
    """Return the text of an answer, stripped; NUL and bytes that are not UTF-8 become U+FFFD."""
    return cleaned(answer.decode("utf-8", errors="replace"))


def cleaned(text: str) -> str:
    """Return a text stripped, with U+FFFD for characters that some target could not keep."""
    return re.sub(NO_TEXT, "\ufffd", text).strip(SPACES)


def field_of(answer: str, field: str) -> "str | None":
    """Return the field of the last JSON object that has it, or None: the whole answer is kept."""
    decoder, found = json.JSONDecoder(parse_constant=no_json), None
    place, work = answer.find("{"), 0
    while place >= 0 and work < MOST_READ:
        try:
            value, end = decoder.raw_decode(answer, place)
        except (ValueError, RecursionError) as error:
            value, end = None, place + 1
            work += getattr(error, "pos", len(answer)) - place
        pending = [value]  # a value may be deeper than the call stack
        while pending:
            item: Any = pending.pop()
            if isinstance(item, dict):
                found = _as_text(item[field]) if field in item else found
                item = [*item.values()]
            pending += reversed(item) if isinstance(item, list) else ()
        place = answer.find("{", end)
    return found


def no_json(name: str) -> None:
    """Refuse NaN and Infinity, which Python takes for numbers."""
    raise ValueError(f"{name} is not JSON")


def _as_text(value: Any) -> str:  # any JSON value
    return cleaned(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":")))


LONGEST_TEXT = 1 << 20  # bytes


def unkept(text: str, most: int = LONGEST_TEXT) -> str:
    """Return why a run cannot keep a string, to follow its name in a message; "" if it can."""
    if len(text.encode("utf-8", "surrogatepass")) > most:
        return f"is longer than {most:,} bytes"
    return "is not UTF-8" if re.search("[\ud800-\udfff]", text) else ""
