# --- Inputs: values that are given when a run begins (I8).
def _from_json(path):
    try:
        found = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise RefusedError(f"{path}: expected a JSON object with a value for each input")
    return {name: _as_value(path, name, value) for name, value in found.items()}

def _as_value(path, name, value):
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise RefusedError(f"{path}: {name}: expected a string, a number, true or false")

def _from_words(declared, words):
    given = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise RefusedError(f"--input {word}: expected NAME=VALUE or NAME=@FILE")
        if value.startswith("@"):
            value = read_text(value[1:])
            if declared.get(name, {}).get("type") != "text":
                value = value.removesuffix("\n").removesuffix("\r")
        given[name] = value
    return given

def check_inputs(program, options):  # Return the values of all inputs, or refuse them, every unfit one at once.
    declared = {item["name"]: item for item in program["inputs"]}
    given = {**(_from_json(options.inputs) if options.inputs else {}), **_from_words(declared, options.input)}
    wrong = [f"{name}: there is no such input; known: {', '.join(declared)}" for name in given if name not in declared]
    found = {}
    for name, item in declared.items():
        found[name] = value = given.get(name, item.get("default"))
        problem = ""
        if value is None:
            problem = "a value is needed" if item["required"] else ""
        elif any("\ud800" <= character <= "\udfff" for character in value):
            problem = "its value is not UTF-8"
        elif len(value.encode()) > LARGEST_INPUT:
            problem = f"its value is longer than {LARGEST_INPUT:,} bytes"
        else:
            problem = unfit(value, item["type"], item.get("options", ()), item.get("pattern"))
        if problem:
            wrong.append(f"input {name}: {problem}; give it by --input {name}=VALUE")
    if wrong:
        raise RefusedError(*wrong)
    return found

OPTIONS += [
    ("run", "--input", "NAME=VALUE...", "NAME=VALUE or NAME=@FILE"),
    ("run", "--inputs", "FILE", "a JSON object with values of inputs"),
]
BEGINNINGS.append(check_inputs)

