import json
import re
import sys
from pathlib import Path


REQUESTS = {}
"""What the script may ask for; each returns what is wrong, "" if nothing is. Modules add what they do."""

def keep(path, text):  # Write a file that has its name once it is whole.
    Path(f"{path}.new").write_bytes(text.encode("utf-8", "replace"))
    Path(f"{path}.new").replace(path)

def main(words):  # Do what the script asks for.
    says = REQUESTS[words[0]](*words[1:])
    if says:
        sys.stdout.buffer.write(says.encode("utf-8", "replace"))
        sys.stdout.flush()
        sys.exit(2)


NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
TOO_SLOW = "matching it takes too long"
LONGEST_MATCH = 2  # seconds
MOST_TRIES = 10**6  # of characters: what takes no longer than a process needs to begin
MATCH = """
import json, re, signal, sys
signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.alarm(int(sys.argv[1]))
function, flags, pattern, value = json.load(sys.stdin)
print(getattr(re, function)(pattern, value, flags) is not None)
"""

def unfit(value, kind, options=(), pattern=None):
    """Return what is wrong with a value of an input of some type, in words; "" if nothing is."""
    if "\0" in value:
        return "it holds a NUL character"
    if kind == "number" and not NUMBER.fullmatch(value):
        return "it is not a decimal number"
    if kind == "boolean" and value not in ("true", "false"):
        return "it is neither true nor false"
    if kind == "choice" and value not in options:
        return f"it is none of {', '.join(options)}"
    if kind == "string" and ("\n" in value or "\r" in value):
        return "it has more than one line"
    if pattern is None:
        return ""
    matches = is_matched(pattern, value)
    if matches is None:
        return f"{TOO_SLOW}, more than {LONGEST_MATCH} seconds; simplify the pattern {pattern}"
    return "" if matches else f"it does not match {pattern}"

def is_matched(pattern, value):  # Tell whether a pattern matches a whole value; None if that takes too long.
    repetitions = sum(map(pattern.count, "*+?{"))
    if "(" not in pattern and (len(value) + 1) ** repetitions <= MOST_TRIES:  # each multiplies by the length at most
        return re.fullmatch(pattern, value) is not None
    return in_time("fullmatch", 0, pattern, value)

def in_time(function, flags, pattern, value):
    """Tell what a function of `re` finds, in a process of its own that ends itself in time; None if it had to."""
    import subprocess
    words = [sys.executable, "-I", "-S", "-W", "ignore", "-c", MATCH, str(LONGEST_MATCH)]
    given = json.dumps([function, flags, pattern, value]).encode()
    done = subprocess.run(words, input=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return {b"True": True, b"False": False}.get(done.stdout.strip())


MOST_READ = 1 << 24  # characters of what is no JSON object in the end: so no answer takes for ever
SPACES = " \t\n\r\v\f"
NO_TEXT = re.compile("[\0\ud800-\udfff]")

def cleaned(text):  # Return a text without what no target could keep, and without spaces at both ends.
    return NO_TEXT.sub("\ufffd", text).strip(SPACES)

def extracted(answer, field):
    """Return the field of the last JSON object in an answer that has it, else the whole answer (I19)."""
    decoder, found = json.JSONDecoder(parse_constant=_no_json), answer
    place, work = answer.find("{"), 0
    while place >= 0 and work < MOST_READ:
        try:
            value, end = decoder.raw_decode(answer, place)
        except (ValueError, RecursionError) as error:
            work += getattr(error, "pos", len(answer)) - place
            place = answer.find("{", place + 1)
            continue
        for inner in _objects_in(value):
            found = _as_text(inner[field]) if field in inner else found
        place = answer.find("{", end)
    return found

def _objects_in(value):  # Return the objects of a value in the order in which they begin.
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield item
            pending += reversed(item.values())
        elif isinstance(item, list):
            pending += reversed(item)

def _no_json(name):
    raise ValueError(f"{name} is no JSON, though Python takes it")

def _as_text(value):
    return cleaned(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def extract(answer, field, target):  # Keep a field of an answer; all three are files.
    text = Path(answer).read_bytes().decode("utf-8", "replace")
    keep(target, extracted(text, Path(field).read_bytes().decode("utf-8")))
    return ""

def fits(rule, value):  # Return why a value breaks a rule; both are files.
    text = Path(value).read_bytes().decode("utf-8", "surrogateescape")
    return unfit(text, *json.loads(Path(rule).read_bytes()))

REQUESTS.update({"extract": extract, "fits": fits})

main(sys.argv[1:])
