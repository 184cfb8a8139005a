# --- Guardrails: words and patterns that inputs and outputs must not have (B10), looked for in a process of its own.
LEADING_FLAGS = re.compile(r"\(\?([aiLmsux]+)\)")  # what may stand at the beginning of a pattern only
TOLD_VIOLATIONS = 3  # in a message; the report has all
FIND = """
import json, re, signal, sys
signal.alarm(int(sys.argv[1]))
rules, texts = json.load(sys.stdin)
found = []
for rule, pattern in rules:
    search = re.compile(pattern).search
    for where, text in texts:
        match = search(text)
        if match:
            found.append({"rule": rule, "where": where, "text": match.group()[:200]})
print(json.dumps(found[:200]))
"""

def whole_words(pattern):
    flags = LEADING_FLAGS.match(pattern)
    rest = pattern[flags.end() :] if flags else pattern
    end = "\n" if flags and "x" in flags[1] else ""  # a comment at the end of the pattern ends there
    return f"{flags.group() if flags else ''}(?<!\\w)(?:{rest}{end})(?!\\w)"

def rules_of(guardrails):
    words = (word for word in guardrails.get("blocklist", ()) if word.strip())
    blocked = [
        (f"blocklist: {word}", whole_words("(?i)" + r"\s+".join(map(re.escape, word.split())))) for word in words
    ]
    return blocked + [(f"pattern: {pattern}", whole_words(pattern)) for pattern in guardrails.get("patterns", ())]

def strings_in(value, place):  # any JSON value
    if isinstance(value, str):
        return [(place, value)]
    if isinstance(value, list):
        return [found for index, item in enumerate(value) for found in strings_in(item, f"{place}[{index}]")]
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in strings_in(item, f"{place}.{key}".lstrip("."))]
    return []

def contents(root, paths):
    files = (path for path in paths if not path.endswith("/"))
    return [(path, read_inside(root, path).decode("utf-8", "replace")) for path in files]

def guarded(stages, stage, gather):
    rules = rules_of(config_of(stages.session).get("guardrails", {}).get(stage, {}))
    if not rules:
        return Found("", {})
    try:
        texts = gather()
    except UnsafeError as error:
        return Found(f"{stage} {error}", {})
    found = violations(stages, rules, texts) if texts else []
    status = "failed" if found else "passed"
    report = {"stage": stage, "status": status, "checked_at": utc_now(), "violations": found}
    told = "; ".join(f"{one['rule']} in {one['where']}" for one in found[:TOLD_VIOLATIONS])
    more = f" and {len(found) - TOLD_VIOLATIONS} more" if len(found) > TOLD_VIOLATIONS else ""
    return Found(f"{stage} guardrails: {told}{more}" if found else "", {"guardrails": report})

def violations(stages, rules, texts):
    try:
        said = child_says(stages.processes, FIND, [rules, texts], stages.time_limit(), "-S")
    except SearchError as error:
        if stages.seconds_left() <= 0:
            raise LateError from None
        return [{"rule": "the search itself", "where": "everything", "text": str(error)}]
    found = json.loads(said)
    return found

