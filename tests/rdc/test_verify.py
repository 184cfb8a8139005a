"""`rdc verify`: what a generated file is, told by its source or without it; nothing in it is executed."""

import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rdc.verified import NAMES, alone, compiled
from tests.support.cli import GOOD, call, document

QUESTIONS = "# Ask\n\n## 1. Is it up?\n\n- YES: COMPLETE\n- NO: STOP\n"


@pytest.mark.parametrize("target", NAMES)
def test_source_proves_a_file(target: str, tmp_path: Path) -> None:
    path = compiled(tmp_path, target)
    assert call("verify", str(path), cwd=tmp_path).code == 0
    text = path.read_text(encoding="utf-8")
    word = "Deploy" if target == "skill" else "Build"  # a skill has no steps
    at = text[: text.index(word)].count("\n") + 1
    path.write_text(text.replace(word, "Evil", 1), encoding="utf-8")
    assert call("verify", str(path), cwd=tmp_path).exits(1).out.startswith(f"{path}:{at}: ")
    path.write_text(text.replace("rdc 0.1.0", "rdc 9.8.7"), encoding="utf-8")
    other = call("verify", str(path), cwd=tmp_path)
    assert (other.code, "it was written by rdc 9.8.7" in other.out) == (2, True), "it is not guessed"


FULL = "---\nrdc:\n  python:\n    operator: full\n---\n"
OF_PYTHON = (["runtime=shared"], ["traces=true"], ["traces=true", "runtime=shared"])


@pytest.mark.parametrize(
    ("target", "options", "head"),
    [
        *(("python", options, "") for options in OF_PYTHON),
        *(("python", options, FULL) for options in ([], ["operator=basic"])),
        ("make", ["state-dir=ops", "operator=full"], ""),
        ("github", ["runs-on=[self-hosted, linux]", "timeout-minutes=5"], ""),
    ],
)
def test_options_come_from_the_header(target: str, options: list[str], head: str, tmp_path: Path) -> None:
    path = compiled(tmp_path, target, *(word for option in options for word in ("-O", option)), text=head + GOOD)
    assert not head or path.read_bytes().count(b" -O operator=") == len(options), "the document has its own"
    assert call("verify", str(path), cwd=tmp_path).code == 0


def test_header_is_the_same_for_every_way_to_compile(tmp_path: Path) -> None:
    path = compiled(tmp_path, "make", "-O", "state-dir=ops", "-O", "operator=full")
    text = path.read_bytes()
    assert b"#   rdc compile deploy.runbook.md -O operator=full -O state-dir=ops --to make\n" in text
    (tmp_path / "below").mkdir()
    path.unlink()
    options = ["-O", "operator=full", "-O", "state-dir=ops", "-O", "form=resumable"]
    made = call(
        "compile", "../deploy.runbook.md", "--to", "make", *options, "-o", "../deploy.mk", cwd=tmp_path / "below"
    )
    assert (made.code, path.read_bytes()) == (0, text)


@pytest.mark.parametrize(
    ("target", "options"),
    [
        *((name, []) for name in NAMES if name != "make"),
        *(("python", options) for options in OF_PYTHON),
        ("dbos", ["operator=full"]),
    ],
)
def test_a_file_without_its_source(target: str, options: list[str], tmp_path: Path) -> None:
    path = alone(tmp_path, target, *(word for option in options for word in ("-O", option)))
    result = call("verify", str(path), cwd=tmp_path)
    is_known = target in ("python", "dbos", "skill")
    known = "unchanged, source not compared" if is_known else "only the source proves this file"
    assert (result.code, known in result.out) == (3, True), result.out


def test_shared_runtime_is_known(tmp_path: Path) -> None:
    alone(tmp_path, "python", "-O", "runtime=shared")
    (path,) = tmp_path.glob("rdc_runtime_*.py")
    assert call("verify", path.name, cwd=tmp_path).code == 0
    path.write_bytes(path.read_bytes() + b"\n")
    assert call("verify", path.name, cwd=tmp_path).code == 1


def replaced(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


EVIL = 'open("ran", "w")'
HEAD = "def runbook("
FORGERIES: dict[str, Callable[[str], str]] = {
    "runtime": replaced("import errno\n", "import errno, this\n"),
    "comment in the imports": replaced("import errno\n", "import errno  # fine\n"),
    "import above the guard": replaced("import sys\n", "import errno\nimport sys\n"),
    "no guard": replaced("    del sys.path[0]", "    pass"),
    "no guard in as many characters": replaced("    del sys.path[0]", "    sys.path.copy()"),
    "import in as many characters": replaced("import errno\n", "import runpy\n"),
    "code above the guard": replaced("\nimport sys\n", f"\n{EVIL}\nimport sys\n"),
    "future import above the guard": replaced("\nimport sys\n", "\nfrom __future__ import annotations\nimport sys\n"),
    "code behind the imports": replaced("\n\n\ndef runbook(", f"\n{EVIL}\n\n\ndef runbook("),
    "comment in the runtime": replaced("EXIT_COMPLETE, ", "EXIT_COMPLETE,  # fine\n"),
    "annotation in the runtime": replaced("Table = dict[str, Any]", f"Table = {EVIL} and dict[str, Any]"),
    "imports of a program with a runtime beside it": replaced("import errno\n", "import hashlib\n"),
    "hash of the edition": replaced("edition commands (sha256 ", "edition commands (sha256 0"),
    "other hash of the edition": lambda text: text.replace(text.split("commands (sha256 ")[1][:64], "0" * 64, 1),
    "other command in the header": replaced("/p' FILE | sha256sum", "/p' FILE | cat"),
    "other hash in the header": replaced("sha256sum\n#   ", "sha256sum\n#   0"),
    "end of the runtime before code": replaced("\n# END RUNTIME\n", f"\n# END RUNTIME\n{EVIL}\n"),
    "other edition": replaced(", edition commands (", ", edition values ("),
    "no such edition": replaced(", edition commands (", ", edition evil ("),
    "code behind the runtime": lambda text: f"{text}{EVIL}\n",
    "line end behind the runtime": lambda text: f"{text}\n",
    "code before the function": replaced(HEAD, f"{EVIL}\n{HEAD}"),
    "code behind the function": replaced("\n\n\n# ---", f"\n{EVIL}\n\n\n# ---"),
    "second function": replaced("\n\n\n# ---", "\n\ndef main():\n    pass\n\n\n# ---"),
    "second runtime": lambda text: text + "\n\n\n# " + text.split("\n\n\n# ", 2)[-1],
    "decorator": replaced(HEAD, f"@print\n{HEAD}"),
    "default": replaced(HEAD, f"def runbook(gate={EVIL}, "),
    "annotation": replaced("(about, ", f"(about: {EVIL}, "),
    "returned annotation": replaced("):\n    about", f") -> {EVIL}:\n    about"),
    "keyword-only": replaced("(about, ", "(about, *, "),
    "unknown word": replaced("(about, ", "(exec, about, "),
    "other name": replaced(HEAD, "def main("),
    "coroutine": replaced(HEAD, f"async {HEAD}"),
    "built-in function": replaced('"echo testing"', EVIL),
    "method": replaced('"echo testing"', '"".join([])'),
    "sum": replaced('"echo testing"', '"echo " + "testing"'),
    "formatted": replaced('"echo testing"', 'f"{about}"'),
    "lambda": replaced('"echo testing"', "lambda: 1"),
    "list of a loop": replaced('"echo testing"', "[1 for about in []]"),
    "assignment": replaced("    about(", f"    about = {EVIL}\n    about("),
    "named": replaced('"echo testing"', f"(about := {EVIL})"),
    "import": replaced("    about(", "    import this\n    about("),
    "spread": replaced('"echo testing"', '"echo testing", **{}'),
    "spread list": replaced('step("2"', 'step(*["2"]'),
    "bytes": replaced('"echo testing"', 'b"echo testing"'),
    "coding": replaced("python3\n#\n", "python3\n# coding: utf-7\n"),
    "other interpreter": replaced("#!/usr/bin/env python3", "#!/usr/bin/env python4"),
    "line separator": replaced("# Deploy", f"# Deploy\u2028{EVIL}"),
    "carriage return": replaced("# Deploy", f"# Deploy\r{EVIL}"),
    "form feed": replaced("# Deploy", "# Deploy\f"),
    "reversed text": replaced("echo testing", "echo \u202etesting"),
    "byte-order mark": lambda text: f"\ufeff{text}",
    "line ends": lambda text: text.replace("\n", "\r\n"),
    "no command": replaced("#   rdc compile ", "#   rdc comply "),
    "other target": replaced("--to python", "--to make"),
    "no such target": replaced("--to python", "--to evil"),
    "no edition": replaced("# The runtime of rdc ", "# The runtime of rcd "),
    "deep": replaced('"echo testing"', "[" * 3000 + "]" * 3000),
    "cut off": lambda text: text[:-20],
}

FORGED_WORKERS: dict[str, Callable[[str], str]] = {
    "edition": replaced("import errno\n", "import errno, this\n"),
    "part for workers": replaced("import socket\n", "import socket, this\n"),
    "hash of the part": replaced("dbos-values (sha256 ", "dbos-values (sha256 0"),
    "no part for workers": lambda text: (
        text.partition("# BEGIN WORKER\n")[0] + '\nif __name__ == "__main__":\n    pass\n'
    ),
    "code behind the part": lambda text: f"{text}{EVIL}\n",
    "start": replaced("traced(execute_call, ", "exec(execute_call, "),
    "author's part": replaced('"echo testing"', EVIL),
    "program": replaced("#!/usr/bin/env -S uv run --script", "#!/usr/bin/env python3"),
    "other interpreter": replaced("uv run --script", "uv run --with this --script"),
    "one package more": replaced('"dbos==3.4.0", ', '"dbos==3.4.0", "evil", '),
    "other version": replaced('requires-python = ">=3.10"', 'requires-python = ">=3.9"'),
    "no packages": replaced("# /// script\n", ""),
    "second block of packages": replaced("# ///\n", '# ///\n#\n# /// script\n# dependencies = ["evil"]\n# ///\n'),
    "settings of uv": replaced("# ///\n#\n", '# [tool.uv]\n# index-url = "evil"\n# ///\n#\n'),
    "other target": replaced("--to dbos", "--to python"),
}

FORGED_TRACES: dict[str, Callable[[str], str]] = {
    "edition": replaced("import errno\n", "import errno, this\n"),
    "part for traces": replaced("from contextlib import closing\n", "from contextlib import closing, suppress\n"),
    "no part for traces": lambda text: text.partition("# BEGIN TRACES\n")[0] + text.partition("# END TRACES\n")[2],
    "address": replaced('f"{OTLP}ENDPOINT must', 'f"{OTLP}ENDPOINT, must'),
    "hash of the part": replaced("traces (sha256 ", "traces (sha256 0"),
    "hash in the header": lambda text: text.replace(
        text.split("END TRACES$/p' FILE | sha256sum\n#   ")[1][:64], "0" * 64
    ),
    "no hash in the header": replaced("#   sed -n '/^# BEGIN TRACES$/,/^# END TRACES$/p' FILE | sha256sum\n", ""),
    "code behind the part": replaced("# END TRACES\n", f"# END TRACES\n{EVIL}\n"),
    "start": replaced("EXECUTE = traced(execute, ", "EXECUTE = exec(execute, "),
    "version": replaced('traced(execute, "0', 'traced(execute, "1'),
}

FORGED = [
    *(("python", (), name, change) for name, change in FORGERIES.items()),
    *(("dbos", (), name, change) for name, change in FORGED_WORKERS.items()),
    *(("python", ("-O", "traces=true"), name, change) for name, change in FORGED_TRACES.items()),
]


@pytest.mark.parametrize(
    ("target", "options", "change"),
    [pytest.param(*rest, change, id=f"{name}-{len(rest[1])}") for *rest, name, change in FORGED],
)
def test_changed_program(target: str, options: tuple[str, ...], change: Callable[[str], str], tmp_path: Path) -> None:
    """With its source, and without it."""
    path = compiled(tmp_path, target, *options)
    path.write_bytes(change(path.read_text(encoding="utf-8")).encode())
    for _ in range(2):
        assert call("verify", path.name, cwd=tmp_path).exits(1).out.startswith(f"{path.name}:")
        assert not (tmp_path / "ran").exists()
        (tmp_path / "deploy.runbook.md").unlink(missing_ok=True)


def test_changed_part_for_traces_beside_a_program(tmp_path: Path) -> None:
    path = alone(tmp_path, "python", "-O", "traces=true", "-O", "runtime=shared")
    [beside] = tmp_path.glob("rdc_shared_traces_*.py")
    assert call("verify", path.name, cwd=tmp_path).code == 3
    beside.write_bytes(beside.read_bytes() + b"\n")
    assert call("verify", path.name, cwd=tmp_path).code == 1


def test_packages_of_a_program_are_a_change_and_the_line_of_a_change_is_named(tmp_path: Path) -> None:
    path = alone(tmp_path)
    text = path.read_text(encoding="utf-8")
    packages = "# /// script\n# dependencies = []\n# ///\n"
    lines = text.split("\n")
    lines[199] += " #"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert call("verify", path.name, cwd=tmp_path).out.startswith(f"{path.name}:200: ")
    for place, line in {"# Do not edit": 7, "    step(": text[: text.index("    step(")].count("\n") + 1}.items():
        path.write_text(text.replace(place, f"{packages}{place}", 1), encoding="utf-8")
        found = call("verify", path.name, cwd=tmp_path)
        assert found.out.startswith(f"{path.name}:{line}: the packages for `uv run`"), found.out


def test_many_starts_of_packages_take_no_time(tmp_path: Path) -> None:
    path = alone(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("# Do not edit", "# /// a\n" * 200_000 + "# Do not edit", 1), encoding="utf-8")
    begun = time.monotonic()
    assert call("verify", path.name, cwd=tmp_path).code != 70
    assert time.monotonic() - begun < 20
    path.write_text(text.replace("# Do not edit", f"{'# /// a' * 2}\n# /// b\n#\n# x\n# ///\n# Do not edit", 1))
    assert "the packages for `uv run` were changed" in call("verify", path.name, cwd=tmp_path).out


@pytest.mark.parametrize("target", ["python", "dbos"])
def test_packages_in_a_command_are_no_packages_of_the_program(target: str, tmp_path: Path) -> None:
    script = "cat > a.py << END\n# /// script\n# dependencies = []\n# ///\nEND"
    path = compiled(tmp_path, target, text=GOOD.replace("echo testing", script))
    assert path.read_text(encoding="utf-8").count("\n# /// script\n") == (target == "dbos")
    (tmp_path / "deploy.runbook.md").unlink()
    result = call("verify", path.name, cwd=tmp_path)
    assert result.code == 3, result.out


@pytest.mark.parametrize(
    "source", ["/etc/passwd", "../deploy.runbook.md", "deploy\\.runbook.md", "'", "-", "x/../deploy.runbook.md"]
)
def test_source_outside_of_the_project_is_not_read(source: str, tmp_path: Path) -> None:
    path = compiled(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("rdc compile deploy.runbook.md", f"rdc compile {source}"), encoding="utf-8")
    assert call("verify", path.name, cwd=tmp_path).code in (1, 3)


def test_link_to_a_source_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    path = alone(tmp_path / "project")
    document(tmp_path, "deploy.runbook.md", GOOD)
    (path.parent / "deploy.runbook.md").symlink_to(tmp_path / "deploy.runbook.md")
    assert call("verify", path.name, cwd=path.parent).code == 3


@pytest.mark.parametrize("kind", ["folder", "absent", "pipe", "text", "empty", "nul", "huge", "binary"])
def test_what_is_no_file_of_rdc(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    data = {
        "text": b"print(1)\n", "empty": b"", "nul": b"# Generated by rdc 0.1.0 from a\n\0", "binary": b"\xff\xfe",
        "huge": b"# Generated by rdc 0.1.0 from a\n" + b"#" * 2**23,
    }  # fmt: skip
    if kind in data:
        path.write_bytes(data[kind])
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    assert call("verify", path.name, cwd=tmp_path).exits(2).err == ""


@pytest.mark.parametrize("text", [QUESTIONS, GOOD.replace("# Deploy", "# Generated by rdc 9.8.7 from here", 1)])
def test_neither_questions_nor_titles_like_a_header_matter(text: str, tmp_path: Path) -> None:
    assert call("verify", compiled(tmp_path, text=text).name, cwd=tmp_path).code == 0


def test_worst_of_several_files_decides(tmp_path: Path) -> None:
    path = compiled(tmp_path)
    (tmp_path / "link.py").symlink_to(path)
    assert call("verify", "link.py", cwd=tmp_path).code == 0
    (tmp_path / "other.py").write_text("print(1)\n", encoding="utf-8")
    (tmp_path / "changed.py").write_bytes(path.read_bytes() + b"#\n")
    assert call("verify", path.name, "other.py", cwd=tmp_path).code == 2
    assert call("verify", path.name, "other.py", "changed.py", cwd=tmp_path).code == 1
    document(tmp_path, "deploy.runbook.md", GOOD.replace("testing", "tested"))
    assert "the source has changed" in call("verify", path.name, cwd=tmp_path).exits(3).out


AFTER_HEADER = "# B\n\n## 1. Do\n\n- PASS: COMPLETE\n- FAIL: STOP\n\n```sh\ntrue\n```\n"
SPECIFICATION = """\
workflow: {module: notes, workflow: notes, phase: Release}
step_specs:
  - id: write
    description: Write
    outputs: ["{output_folder}/{kind}.md"]
"""
READ_BY = {
    "a.md": (["--from", "rundown"], GOOD),
    "b.runbook.md": (["--transitions", "after-header"], AFTER_HEADER),
    "c.stepspec.yaml": (["--var", "output_folder=out", "--var", "kind=a-b"], SPECIFICATION),
}


@pytest.mark.parametrize("name", READ_BY)
def test_the_header_says_how_the_source_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    words, text = READ_BY[name]
    document(tmp_path, name, text)
    call("compile", name, *words, "--to", "python", "-o", "made.py", cwd=tmp_path).exits(0)
    header = f"#   {shlex.join(['rdc', 'compile', name, *words, '-o', 'made.py', '--to', 'python'])}\n"
    assert header in (tmp_path / "made.py").read_text()
    call("verify", "made.py", cwd=tmp_path).exits(0)
    other = (tmp_path / "made.py").read_text().replace(words[0], "--form", 1)
    (tmp_path / "made.py").write_text(other)
    assert call("verify", "made.py", cwd=tmp_path).code == 1
