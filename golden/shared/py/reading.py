# --- How an answer becomes a text, a word and a value: pure, for every target alike (I11 to I14, I19).
LARGEST_ANSWER = 1 << 20  # bytes
AGENT_SECONDS, TOOL_SECONDS = 1800, 30  # the time limits where a program says nothing (I21)
SPACES = " \t\n\r\v\f"
NO_TEXT = re.compile("[\0\ud800-\udfff]")

def decoded(answer):  # Return the text of an answer: what is not UTF-8, and NUL, is U+FFFD; no spaces around (I11).
    return cleaned(answer.decode("utf-8", errors="replace"))

def cleaned(text):  # Return a text without what no target could keep, and without spaces at both ends.
    return NO_TEXT.sub("\ufffd", text).strip(SPACES)

