"""Answers of agents and tools: text, size, time limit (I11, I13, I21). Pure."""

from runtime_shim.tasks.reading import cleaned

LARGEST_ANSWER = 1 << 20  # bytes
AGENT_SECONDS, TOOL_SECONDS = 1800, 30  # the time limits where a program says nothing


def decoded(answer: bytes) -> str:
    """Return the text of an answer: what is not UTF-8, and NUL, is U+FFFD; no spaces around (I11)."""
    return cleaned(answer.decode("utf-8", errors="replace"))
