# --- Guardrails: words and patterns that inputs and outputs must not have, looked for in a process of its own.
LEADING_FLAGS = r"\(\?([aiLmsux]+)\)"  # what may stand at the beginning of a pattern only
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
    flags = re.match(LEADING_FLAGS, pattern)
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
def guarded(stages, side, gather):
    rules = rules_of(config_of(stages.session).get("guardrails", {}).get(side, {}))
    if not rules:
        return Found("", {})
    texts, found = gather(), []
    try:
        if texts:
            found = json.loads(child_says(stages.processes, FIND, [rules, texts], stages.time_limit(), "-S"))
    except SearchError as error:
        found = [{"rule": "the search itself", "where": "everything", "text": str(error)}]
    status = "failed" if found else "passed"
    report = {"stage": side, "status": status, "checked_at": utc_now(), "violations": found}
    told = some_of([f"{one['rule']} in {one['where']}" for one in found])
    return Found(told and f"{side} guardrails: {told}", {"guardrails": report})

