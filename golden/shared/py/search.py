# --- The search for a validation pattern: in a process of its own, where it can be interrupted and has a limit (I12).
LONGEST_SEARCH = 60  # seconds: an hour may not be enough for `\\d+:` in a megabyte of digits
SEARCH = """
import json, re, signal, sys
signal.alarm(int(sys.argv[1]))
pattern, answer = json.load(sys.stdin)
print(re.search(pattern, answer, re.IGNORECASE) is not None)
"""

class SearchError(Exception):
    pass

def searched_word(processes, what, answer):
    settings = what.get("keywords", ()), what.get("validation"), what.get("excused", ())
    try:
        return read_word(answer, *settings, search=lambda pattern, text: _is_found(processes, pattern, text)), ""
    except SearchError as error:
        return read_word(None, *settings), f"looking for its validation pattern: {error}"

def _is_found(processes, pattern, answer):
    return child_says(processes, SEARCH, [pattern, answer], LONGEST_SEARCH, "-S") == b"True\n"

def child_says(processes, code, given, seconds, *flags):
    words = [sys.executable, "-I", *flags, "-W", "ignore", "-c", code, str(seconds)]
    call = Call(f"exec {shlex.join(words)}", os.environb, json.dumps(given).encode(), lambda _lines: None)
    (answered,) = exchange(processes, [call], seconds)
    if answered.trouble:
        raise SearchError(answered.trouble)
    return answered.answer

