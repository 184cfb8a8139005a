"""The templates in `templates/` as functions. `make golden` makes them: change a template, not this file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backends.python.literals import literal
from backends.remarks import comment, listed
from backends.templating import joined


@joined
def program_py(
    *,
    calls: Any,
    command: Any,
    edition: Any,
    explained: Any,
    included: Any,
    kind: Any,
    mark: Any,
    name: Any,
    shared: Any,
    shells: Any,
    source: Any,
    tail: Any,
    title: Any,
    version: Any,
) -> Iterator[str]:
    """Fill in `program.py.jinja`."""
    yield "#!/usr/bin/env python3\n"
    yield "#\n"
    yield f"# {comment(title)}\n"
    yield "#\n"
    yield f"# {mark} {version} from {comment(source.path)}\n"
    yield f"# (sha256 {source.sha256}){',' if included else '.'}\n"
    for other_index, other in enumerate(included):
        yield f"# with {comment(other.path)}\n"
        yield f"# (sha256 {other.sha256}){'.' if other_index == len(included) - 1 else ','}\n"
    yield "# Do not edit: change the document and compile it again with the command below. To check this file, run `rdc verify FILE`.\n"
    yield f"#   {command}\n"
    yield "#\n"
    yield f"# Needs {listed(['Linux or macOS', 'Python 3.9 or newer'] + shells + (shared[:-1] + [shared[-1] + ' beside it'] if shared else []))}.\n"
    if edition == "script":
        yield "# It runs to the end and keeps no state, so you cannot resume it. For a program that you can resume, compile without\n"
        yield "# `-O runtime=script`."
        if "ask" in calls.parameters:
            yield " `--answers FILE` answers its questions; each line is REPLY or STEP REPLY."
        yield "\n"
        yield "# Exit codes: 0 COMPLETE, 1 STOP, 2 refused, 130 interrupted.\n"
    else:
        yield "# `run` starts a run, `resume` continues one that waits or was interrupted, `status` shows where it is and what you can\n"
        yield f"# do, and `--help` lists the rest. Commands run in the current folder, which also has the state directory .rdc/{name}.\n"
        yield "# While that contains an unfinished run, `run` starts no other.\n"
        yield "# Exit codes: 0 COMPLETE, 1 STOP, 2 refused, 75 waits for a person, 130 interrupted.\n"
    yield "#\n"
    if calls.builder:
        yield "# First comes the specification. Each step has its line in the document (`at`), the `lines` of its parts, and its facts.\n"
        yield "# A step waits for its gates, reads its inputs, calls its tools, does its work, and validates its outputs. If a tool, the\n"
        yield "# work or a check fails, the whole step is retried up to `retries` times, and then the run stops. A rejected gate or a\n"
        yield "# missing input stops the run at once. Outputs of an earlier run are not deleted, so a check may find an old file.\n"
    else:
        yield f"# First comes the {kind}. Each step has its line in the document (`at`), its task, and a transition for each outcome:\n"
        yield '# `go("2")` continues at step 2, `complete` and `stop` end the run. A second string is the document\'s own wording.\n'
    if "retry" in calls.parameters:
        yield "# `retry(2)` makes up to 2 more attempts. After that, the transition in `then` applies.\n"
    for line in explained:
        yield f"# {comment(line)}\n"
    yield "# Then comes the runtime. It is the same in every program of this edition.\n"
    yield "\n"
    yield "\n"
    yield f"def {kind}({', '.join(calls.parameters)}):\n"
    yield str("\n".join(calls.lines))
    yield "\n"
    yield "\n"
    yield "\n"
    yield f"{tail}"


@joined
def tail_py(*, edition: Any, kind: Any, runtime: Any, sha256: Any, shared: Any, version: Any) -> Iterator[str]:
    """Fill in `tail.py.jinja`."""
    yield "# ---------------------------------------------------------------------------------------------------------------------\n"
    yield f"# The runtime of rdc {version}, edition {edition} (sha256 {sha256}).\n"
    yield f"# The {kind} ends here. The rest is the same in every program of this edition: `rdc runtime {edition}` prints it.\n"
    yield "# To check the whole file, run `rdc verify FILE`.\n"
    yield "# ---------------------------------------------------------------------------------------------------------------------\n"
    yield "import sys\n"
    yield 'if __name__ == "__main__" and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):\n'
    yield "    del sys.path[0]  # import nothing from the folder of this file\n"
    yield "\n"
    if shared:
        yield "import hashlib\n"
        yield "import os\n"
        yield "\n"
        yield "RUNTIME = {\n"
        for name, digest in shared.items():
            yield f"    {literal(name)}: {literal(digest)},\n"
        yield "}\n"
        yield "for NAME, SHA256 in RUNTIME.items():\n"
        yield "    PATH = os.path.join(os.path.dirname(os.path.realpath(__file__)), NAME)\n"
        yield "    try:\n"
        yield '        with open(PATH, "rb") as file:\n'
        yield "            CODE = file.read()\n"
        yield "    except OSError as error:\n"
        yield '        print(f"rdc: error: cannot read {PATH}, which this program needs: {error.strerror}", file=sys.stderr)  # works without a stderr, too\n'
        yield "        sys.exit(2)\n"
        yield "    if hashlib.sha256(CODE).hexdigest() != SHA256:\n"
        yield '        print(f"rdc: error: {PATH} was changed; restore it, or compile this program again", file=sys.stderr)\n'
        yield "        sys.exit(2)\n"
        yield '    exec(compile(CODE, PATH, "exec"))\n'
    else:
        yield f"{runtime}\n"
    yield "\n"
    yield 'if __name__ == "__main__":\n'
    if edition == "script":
        yield f"    sys.exit(main(built({kind}, ())))\n"
    else:
        yield f'    sys.exit(main(built({kind}, EXTENSIONS), EXTENSIONS, host=Host(edition="{edition} {sha256[:12]}")))\n'
