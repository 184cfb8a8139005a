# --- Whether files parse, have sound types and style: what the checks of a validation find (B11).
LONGEST_MESSAGE = 2000  # characters that are kept of what a tool says
PYTHON, YAML = (".py", ".pyi"), (".yaml", ".yml")
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
MYPY = ("--config-file=", "--no-incremental", "--cache-dir=/dev/null", "--follow-imports=silent")
MYPY += ("--ignore-missing-imports", "--no-error-summary", "--no-color-output", "--")
RUFF = ("check", "--no-cache", "--no-fix", "--quiet", "--output-format=concise", "--")

Checked = collections.namedtuple("Checked", "status message", defaults=('',))

def kind_of_file(path):
    suffix = os.path.splitext(path)[1].lower()
    return "Python" if suffix in PYTHON else "YAML" if suffix in YAML else "JSON" if suffix == ".json" else ""

def check_parses(stages, path):
    kind = kind_of_file(path)
    if not kind:
        return Checked("skipped", "neither JSON, YAML nor Python")
    try:
        text = read_inside(stages.root, path).decode("utf-8-sig")
        said = child_says(stages.processes, PARSE, [kind, text], stages.time_limit())
    except UnicodeDecodeError:
        return Checked("failed", "not UTF-8")
    except SearchError as error:
        if stages.seconds_left() <= 0:
            raise LateError from None
        return Checked("failed", f"not {kind}: the parser ended: {error}")
    return Checked(*json.loads(said))

def check_ast(stages, path):
    return check_parses(stages, path) if kind_of_file(path) == "Python" else Checked("skipped", "not a Python file")

def check_types(stages, path):
    return _by_tool(stages, "mypy", MYPY, path)

def check_lint(stages, path):
    return _by_tool(stages, "ruff", RUFF, path)

def _by_tool(stages, tool, options, path):
    if kind_of_file(path) != "Python":
        return Checked("skipped", "not a Python file")
    import shutil

    command = shutil.which(tool) or shutil.which(tool, path=os.path.dirname(sys.executable))
    if command is None:
        return Checked("skipped", f"{tool} is not installed")
    answered = listened(stages, [command, *options, os.path.normpath(path)])
    if not answered.trouble:
        return Checked("passed")
    return Checked("failed", (decoded(answered.answer) or f"{tool}: {answered.trouble}")[:LONGEST_MESSAGE])

def listened(stages, words, seconds=0):
    limit = stages.time_limit(seconds or float("inf"))
    command = "exec " + " ".join(map(shlex.quote, words))
    (answered,) = exchange(stages.processes, [Call(command, for_others(os.environb), b"", lambda _lines: None)], limit)
    if answered.trouble and stages.seconds_left() <= 0:
        raise LateError
    return answered

def check_exists(stages, path):
    check_there(stages.root, path)
    return Checked("passed")

CHECKED_BY = {
    "exists": check_exists,
    "parses": check_parses,
    "ast": check_ast,
    "types": check_types,
    "lint": check_lint,
}

def checked(stages, check, path):
    try:
        found = CHECKED_BY[check](stages, path)
    except UnsafeError as error:
        found = Checked("failed", str(error))
    return {
        "check": check,
        "path": path,
        "status": found.status,
        **({"message": found.message} if found.message else {}),
    }

