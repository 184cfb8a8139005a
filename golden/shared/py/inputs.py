# --- Inputs: values that are given when a run begins.
def _from_file(path):
    text = read_text(path)
    if not text.lstrip().startswith("{"):
        return _from_lines(path, text)
    found = read_json(path, text)
    if wrong := [name for name, value in found.items() if not isinstance(value, (str, int, float))]:
        raise RefusedError(f"{path}: {', '.join(wrong)}: expected a string, a number, true or false")
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in found.items()}
def _from_lines(path, text):
    found = {}
    try:
        for number, name, value in pairs_in(text.replace("\r\n", "\n"), has_comments=True):
            if name in found:
                raise RefusedError(f"{path}:{number}: {name} is given twice")
            found[name] = value
    except ValueError as error:
        raise RefusedError(f"{path}: {error}, and the file is no JSON object") from None
    return found
def _from_options(options, declared):
    given = {} if options.task is None else {"task": options.task}  #
    file = [] if options.task_file is None else [f"task=@{options.task_file}"]
    for word in (*options.input, *file):
        name, equals, value = word.partition("=")
        if not equals:
            raise RefusedError(f"--input {word}: expected NAME=VALUE or NAME=@FILE")
        if name in given:
            raise RefusedError(f"input {name} is given twice")
        if value.startswith("@@"):  # a text that begins with the sign
            value = value[1:]
        elif value.startswith("@"):
            value = read_text(value[1:])
            if declared.get(name, {}).get("type") != "text":
                value = value.removesuffix("\n").removesuffix("\r")
        given[name] = value
    return given
def _problem(item, value):
    if value is None:
        return "a value is needed" if item["required"] else ""
    return unfit(value, item["type"], item.get("options", ()), item.get("pattern"))
def _typed(session, item):
    name, options, default = item["name"], item.get("options", ()), item.get("default")
    is_long = item["type"] == "text"
    about = (
        f"one of {', '.join(options)}" if options else "",
        "several lines; end with an empty line" if is_long else "",
        f"default {default}" if default is not None else "" if item["required"] else "may be empty",
    )
    told = one_line("; ".join(filter(None, about)))
    def read(text):
        value = text.rstrip("\n")
        if problem := _problem(item, value or default):
            raise RefusedError(one_line(problem))
        return value
    def goes_on(line):  # an empty line within a string that is pasted does not end it
        return is_long and (line != "\n" or more_comes())
    session.display.line(one_line(f"{name}: {item.get('description', '')}").rstrip(": "))
    return asked(session, f"{name} ({told}): " if told else f"{name}: ", read, goes_on)
def check_inputs(session):
    declared = {item["name"]: item for item in session.program["inputs"]}
    given = _from_file(session.options.inputs) if session.options.inputs else {}
    given.update(_from_options(session.options, declared))
    known = ", ".join(declared)
    wrong = [f"{name}: there is no such input; known: {known}" for name in given if name not in declared]
    missing = [item for name, item in declared.items() if name not in given]
    if session.is_interactive and not wrong and any(_problem(item, item.get("default")) for item in missing):
        try:
            for item in missing:
                value = _typed(session, item)
                if value is None:
                    break
                given.update({item["name"]: value} if value else {})
        finally:
            forget_pasted()
    found = {name: given.get(name, item.get("default")) for name, item in declared.items()}
    problems = ((name, _problem(item, found[name])) for name, item in declared.items())
    wrong += [f"input {name}: {problem}; give it by --input {name}=VALUE" for name, problem in problems if problem]
    if wrong:
        raise RefusedError(*wrong)
    return found

class Inputs(Extension):
    options = (
        ("run", "--input", "NAME=VALUE...", "NAME=VALUE or NAME=@FILE"),
        ("run", "--inputs", "FILE", "inputs, long ones too: a JSON object, or lines NAME=VALUE"),
        ("run", "--task", "TEXT", "the same as --input task=TEXT"),
        ("run", "--task-file", "FILE", "the same as --input task=@FILE"),
    )
    @staticmethod
    def suits(program):
        return bool(program.get("inputs"))
    def registers(self):
        return check_inputs(self.session)

