"""How an answer becomes a text and a value: pure, for every target alike (I11, I13, I19)."""

import json
import re
from typing import Any

LARGEST_ANSWER = 1 << 20  # bytes
AGENT_SECONDS, TOOL_SECONDS = 1800, 30  # the time limits where a program says nothing (I21)
MOST_READ = 10**7  # characters; each place where an object may begin counts for a thousand at least
SPACES = " \t\n\r\v\f"
NO_TEXT = re.compile("[\0\ud800-\udfff]")


def decoded(answer: bytes) -> str:
    """Return the text of an answer: what is not UTF-8, and NUL, is U+FFFD; no spaces around (I11)."""
    return cleaned(answer.decode("utf-8", errors="replace"))


def cleaned(text: str) -> str:
    """Return a text without what no target could keep, and without spaces at both ends."""
    return NO_TEXT.sub("\ufffd", text).strip(SPACES)


def extracted(answer: str, field: str) -> str:
    """Return the field of the last JSON object in an answer that has it, else the whole answer (I19)."""
    decoder = json.JSONDecoder(parse_constant=_no_json)
    place, work = len(answer), 0
    while work < MOST_READ and (place := answer.rfind("{", 0, place)) >= 0:
        try:
            value, end = decoder.raw_decode(answer, place)
        except (ValueError, RecursionError) as error:
            end, value = getattr(error, "pos", len(answer)), {}
        if field in value:
            return _as_text(value[field])
        work += max(end - place, 1000)
    return answer


def _no_json(name: str) -> None:
    raise ValueError(f"{name} is no JSON, though Python takes it")


def _as_text(value: Any) -> str:  # noqa: ANN401 (any JSON value)
    return cleaned(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":")))
