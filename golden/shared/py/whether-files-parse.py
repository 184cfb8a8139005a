# --- Whether files parse, have sound types and style: what the checks of a validation find.
LONGEST_MESSAGE = 2000  # characters that are kept of what a tool says
LANGUAGES = {".py": "Python", ".pyi": "Python", ".yaml": "YAML", ".yml": "YAML", ".json": "JSON"}
PARSE = """
import ast, json, signal, sys
signal.alarm(int(sys.argv[1]))
kind, text = json.load(sys.stdin)
told = ["passed", ""]
try:
    if kind == "Python":
        ast.parse(text)
    elif kind == "JSON":
        json.loads(text, parse_constant=lambda name: 1 / 0)
    else:
        import yaml
        for _ in yaml.compose_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            pass
except ImportError:
    told = ["skipped", "PyYAML is not installed"]
except ZeroDivisionError:
    told = ["failed", "not JSON: NaN and Infinity are no numbers"]
except Exception as error:
    told = ["failed", "not " + kind + ": " + " ".join((str(error) or type(error).__name__).split())]
print(json.dumps(told))
"""
PROGRAMS = {
    # Without any configuration: that of a project may name plugins, which are code.
    "types": "mypy --config-file= --no-incremental --cache-dir=/dev/null --follow-imports=silent"
    " --ignore-missing-imports --no-error-summary --no-color-output --",
    "lint": "ruff check --no-cache --no-fix --quiet --output-format=concise --",  # with the rules of the project
}
def checked(stages, check, path):
    try:
        status, message = _checked(stages, check, path)
    except UnsafeError as error:
        status, message = "failed", str(error)
    return {"check": check, "path": path, "status": status, **({"message": message} if message else {})}
def _checked(stages, check, path):
    language = LANGUAGES.get(os.path.splitext(path)[1].lower(), "")
    if check == "exists":
        check_there(stages.root, path)
        return "passed", ""
    if check != "parses" and language != "Python":
        return "skipped", "not a Python file"
    if check in PROGRAMS:
        return _by_program(stages, PROGRAMS[check].split(), path)
    return _parsed(stages, language, path) if language else ("skipped", "neither JSON, YAML nor Python")
def _parsed(stages, language, path):
    try:
        text = read_inside(stages.root, path).decode("utf-8-sig")
        status, message = json.loads(child_says(stages.processes, PARSE, [language, text], stages.time_limit()))
    except UnicodeDecodeError:
        return "failed", "not UTF-8"
    except SearchError as error:
        return "failed", f"not {language}: the parser ended: {error}"
    return status, message
def _by_program(stages, words, path):
    import shutil
    name = words[0]
    program = shutil.which(name) or shutil.which(name, path=os.path.dirname(sys.executable))
    if program is None:
        return "skipped", f"{name} is not installed"
    answered = listened(stages, [program, *words[1:], os.path.normpath(path)])
    if not answered.trouble:
        return "passed", ""
    return "failed", (decoded(answered.answer) or f"{name}: {answered.trouble}")[:LONGEST_MESSAGE]
def listened(stages, words, seconds=LONGEST_ATTEMPT):
    call = Call(f"exec {shlex.join(words)}", for_others(os.environb), b"", lambda _lines: None)
    return exchange(stages.processes, [call], stages.time_limit(seconds))[0]

