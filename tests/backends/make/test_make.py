"""Generated Makefiles (T-1, T-2, T-5): what an old make knows, and that no text becomes make or shell."""

import re
import shlex
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings

from backends.make import MakeBackend
from compiler.ir.texts import text
from tests.backends.make.texts import PIECES, TEXTS, with_commands
from tests.support.backend_programs import Made, always, node, program, shell, when
from tests.support.golden import listed, of
from tests.support.makefiles import PATIENCE, Place, environment, last_line, lay

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

# What makes of GNU make after 3.81 know, and since when.
NEWER = {
    r"\.ONESHELL": "3.82", r"\.RECIPEPREFIX": "3.82", r"^\s*(override\s+)?undefine\b": "3.82",
    r"\bprivate\s+\S+\s*[:+?]?=": "3.82", r"^\s*define\s+\S+\s*[:+?!]*=": "3.82", r"^[^\t$]*\s!=": "4.0",
    r"(?<!:)::=": "4.0", r"\$[({]file\s": "4.0", r"\$[({]guile\s": "4.0", r"^-?load\s": "4.0", r"^[^\t]*&:": "4.3",
    r"\.EXTRA_PREREQS|\.SHELLSTATUS": "4.2", r"\$[({]intcmp\s": "4.4", r"\$[({]let\s": "4.4",
    r"\.WAIT\b|\.NOTINTERMEDIATE": "4.4", r"\+:=|:::=": "4.4",
}  # fmt: skip


@pytest.mark.parametrize("path", listed(".mk"))
def test_no_makefile_has_what_make_3_81_does_not_know(path: str) -> None:
    whole = of(path).read_text(encoding="utf-8")
    text = re.sub(r"^define (\S+)\n.*?^endef$", r"define \1\nendef", whole, flags=re.DOTALL | re.MULTILINE)
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert {feature: since for feature, since in NEWER.items() if re.search(feature, text, re.MULTILINE)} == {}


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(text=TEXTS)
@example(text="".join(PIECES))
@example(text="\\\n".join(PIECES))
def test_each_text_in_a_command_arrives_byte_for_byte(text: str) -> None:
    """In bash and in sh. The text is put into the program itself, as Markdown cannot carry all of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        calls = lay(folder, with_commands(f'printf %s {shlex.quote(text)} >> "$OUT"\n\nprintf "|" >> "$OUT"'))
        variables = environment({"OUT": str(folder / "out")})
        ran = subprocess.run(["make"], cwd=folder, env=variables, capture_output=True, check=False, timeout=PATIENCE)
        assert ran.returncode == 0, ran.stderr
        assert (folder / "out").read_bytes().decode() == f"{text}|{text}|"
        assert {path.name for path in folder.iterdir()} == {"Makefile", ".rdc", "out", *(["rdc"] * calls)}


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(text=TEXTS.filter(lambda text: "```" not in text and "\r" not in text and "\ufeff" not in text))
def test_each_text_of_a_document_arrives_as_it_was_written(text: str) -> None:
    """Without what Markdown cannot carry: a fence in the text; the front end makes CR a line end."""
    with tempfile.TemporaryDirectory() as name:
        command = f'printf %s {shlex.quote(text)} > "$OUT"'
        place = Place(Path(name), f"# Text\n\n## 1\n\n```bash\n{command}\n```\n\n- PASS: COMPLETE\n")
        ran = place.make(OUT="out")
        assert ran.returncode == 0, ran.stderr
        assert (place.folder / "out").read_bytes().decode() == text


HOSTILE = ["$(shell touch canary)", "${shell touch canary}", "$(info x)$(eval run: ; touch canary)", "$(touch canary)"]
HOSTILE += ["`touch canary`", ";touch canary", "'; touch canary; '", '"; touch canary; "', "a: ; touch canary", "# x"]
HOSTILE += ["#<", "endef", "trailing \\", "%s %d $@ $< $$ $1 {N}"]


def quoted(message: str) -> str:
    escaped = message.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@pytest.mark.share(1)
def test_titles_prompts_and_messages_execute_nothing(tmp_path: Path) -> None:
    """Each hostile text is the title and the prompt of a command, and of a question, and a message."""
    document = f"# {' '.join(HOSTILE)}\n\n" + "".join(
        f"## {number}. {hostile}\n\n{hostile}\n\n```bash\n{'true' if number > 1 else 'echo ran >> log'}\n```\n\n"
        for number, hostile in enumerate(HOSTILE, 1)
    )
    count = len(HOSTILE)
    for number, hostile in enumerate(HOSTILE, count + 1):
        end = "CONTINUE" if number < 2 * count else f"COMPLETE {quoted(' '.join(HOSTILE))}"
        document += f"## {number}. {hostile}\n\nIs it {hostile}?\n\n- YES: {end}\n- NO: STOP {quoted(hostile)}\n\n"
    place = Place(tmp_path, document)
    shown, done = place.make("help").stdout + place.make("-n").stdout, place.make()
    for number, hostile in enumerate(HOSTILE, 1):
        assert f" {number} {hostile}\n" in shown
        assert f"{number} {hostile}\n" in done.stdout
    for number in range(count):
        assert last_line(done) == f"rdc: WAITING {count + number + 1}", done
        assert f"Is it {HOSTILE[number]}?" in done.stdout + done.stderr
        place.make("status")
        done = place.make("REPLY=yes")
    assert last_line(done) == f"rdc: COMPLETE {' '.join(HOSTILE)}"
    assert (place.make("step-1").returncode, place.lines("log")) == (0, ["ran", "ran"])
    assert not list(tmp_path.rglob("canary*"))


def test_the_message_of_a_stop_is_text(tmp_path: Path) -> None:
    for message in (" ".join(HOSTILE), " ".join(reversed(HOSTILE)), "trailing \\"):
        place = Place(tmp_path, f"## 1. Fail\n\n```sh\nexit 1\n```\n\n- FAIL: STOP {quoted(message)}\n")
        assert last_line(place.make()) == f"rdc: STOP {message}"
        assert not list(tmp_path.rglob("canary*"))


@pytest.mark.parametrize("text", ["a \\ \\", "a \\\\ \\ \\", "a \\", "a\u00a0\\\u00a0\\", "{} \\ \\".format("x" * 197)])
@pytest.mark.parametrize("end", ["", "- PASS: COMPLETE Done\n"], ids=["plain", "flow"])
def test_the_prompt_above_a_command_stays_a_comment(text: str, end: str, tmp_path: Path) -> None:
    """One that went on in the next line would make lines of make of the command."""
    canary = "canary := $(shell touch canary)"
    place = Place(tmp_path, f"# {text}\n\n## 1. {text}\n\n{text}\n\n```bash\n{canary}\n```\n\n{end}")
    for words in (["-n"], ["help"]):
        done = place.make(*words)
        assert done.returncode == 0, done.stderr
    assert canary in place.make("-n").stdout
    assert not (tmp_path / "canary").exists()


MAKE = "-s --version | head -n 1 > out"
COMMANDS = {
    "at sign": "@echo x > out",
    "minus": "-echo x > out; echo y > out",
    "plus": "+echo x > out",
    "space": " echo x > out",
    "the make": f"$(MAKE) {MAKE}",
    "the make in braces": f"${{MAKE}} {MAKE}",
    "make": f"make {MAKE}",
    "endef": "cat > out << 'X'\nendef\n endef # x\nX",
    "define": "cat > out << 'X'\ndefine do-1\n\tdefine x =\nX",
    "a first endef": "endef () { echo x > out; }\nendef",
    "conditionals": "cat > out << 'X'\nifdef x\nelse\nendif\ninclude x\nX",
    "a last backslash": "printf %s a > out # \\",
    "backslashes": "printf %s 'a\\\\\\\nb' > out \\\\",
    "continued lines": "printf %s a \\\n  b > out && \\\n echo",
    "chain": "true &&\nprintf a > out ||\n\tfalse |\n  cat",
    "chain in quotes": "printf '%s' 'a &&\n b ||\nc' > out &&\ntrue",
    "chain in a comment": "true && # a &&\n printf b > out # c ||",
    "chain in a here-document": "cat > out << X &&\na &&\nb |\nX\ntrue",
    "chain with spaces": "printf a > out && \n\n  true ||  \n false",
    "chain behind a backslash": "printf '%s' \\&& printf b > out &&\ntrue",
    "here-document": "cat <<- 'X' > out\n\tone $x $(y)\n\t\\two\nX",
    "expansions": "printf %s '$(shell touch canary) $$@ ${x} $(info x) $(RDC_B)' > out",
    "quotes": 'printf %s "it\'s \\"" > out',
    "blank lines": "\n\nprintf a > out\n\n\n",
    "comment": "# first\nprintf '#a' > out # b",
    "tabs": "\tprintf 'a\tb' > out\n\ttrue",
    "carriage return": "printf %s 'a\rb' > out\n#\r",
    "several lines": "x=1\ncd /\ncd - > /dev/null; echo $x > out",
    "first line fails": "false\necho x > out",
    "semicolons": ";;",
    "large": f"printf %s {'x' * 99_900} | wc -c > out",
    "large on lines": "\n".join([*[": " + "y" * 90] * 1_000, "echo x > out"]),
}


@pytest.mark.parametrize("tag", ["sh", "bash"])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_runs_as_its_shell_would_run_it(command: str, tag: str, tmp_path: Path) -> None:
    """In the first place and in the second, where the more frequent shell is that of the file."""
    place, alone = tmp_path / "place", tmp_path / "alone"
    place.mkdir()
    alone.mkdir()
    others = (node("2", shell("true", "bash")), node("3", shell("true", "sh")))
    lay(place, program(node("1", shell(command, tag)), *others))
    wanted = subprocess.run([tag, "-c", command], cwd=alone, env=environment({}), capture_output=True, check=False)
    expected = (alone / "out").read_bytes() if (alone / "out").exists() else None
    for words in (["-n"], ["-n", "step-1"], [], ["step-1"]):
        (place / "out").unlink(missing_ok=True)
        done = subprocess.run(["make", *words], cwd=place, env=environment({}), capture_output=True, check=False)
        if "-n" in words:
            assert (done.returncode, (place / "out").exists()) == (0, False), done
            continue
        assert (done.returncode == 0, (place / "out").exists()) == (wanted.returncode == 0, expected is not None), done
        assert expected is None or (place / "out").read_bytes() == expected
    assert {path.name for path in place.iterdir()} <= {"Makefile", ".rdc", "out"}


ODD = ["a b", "a-b", "it's", "$(shell touch x)", "#1", "a,b", "(c)", "100%", "run", "-n", "{N}.1", "é", "a/b.md/1"]
ODD += ["x=y", "a:b", "a;b", "a|b", "all", "clean", "%", "\\", "~", "*", "a_b", "a.b", "`touch x`", "$@", "do-1", "1)"]
ODD += ["*)", "a'b"]


def test_each_step_has_a_target_whatever_it_is_called(tmp_path: Path) -> None:
    steps = [
        node(name, shell(f'printf "%s\\n" "$RDC_STEP" {number} >> log'), always(then), title=text(name))
        for number, (name, then) in enumerate(zip(ODD, [*ODD[1:], "done"], strict=True))
    ]
    made = Made(tmp_path, program(*steps))
    targets = re.findall(r"^(step-[^: ]*):(?: ;|$)", made.read("Makefile").decode(), re.MULTILINE)
    assert len(set(targets)) == len(ODD), targets
    others = ["run", "resume", "status", "clean", "help", "all", "RDC_DO", "1"]
    for target in (*targets, *others):  # a file with the name of a target skips nothing
        (tmp_path / target).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / target).touch()
    log = [line for number, name in enumerate(ODD) for line in (name, str(number))]
    assert (made.end(), made.read("log").decode().splitlines()) == ("rdc: COMPLETE", log)
    shown = made.make("status").stdout.decode() + made.make("help").stdout.decode()
    assert [name for name in ODD if name not in shown] == []
    assert (made.make(*targets).returncode, made.read("log").decode().splitlines()) == (0, log * 2)
    assert made.make("clean").returncode == 0
    assert not (made.state / "run").exists()
    assert not (tmp_path / "x").exists()


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "name",
    ["a';touch${IFS}canary;'$@%*", "$(touch${IFS}canary)", "`touch${IFS}canary`a:b#=;", 'a";touch${IFS}canary;"'],
)
def test_names_of_nested_runbooks_execute_nothing(name: str, tmp_path: Path) -> None:
    nested = "# Nested\n\n## 1. In\n\n```bash\necho in >> log\n```\n\n## 2. Ask\n\nIs it?\n"
    document = f"# Main\n\n## 1. Out\n\n- {name}.runbook.md\n\n- FAIL ANY: STOP\n"
    place = Place(tmp_path, document, {f"{name}.runbook.md": nested})
    for words in (["-n"], ["help"], ["status"]):
        assert place.make(*words).returncode == 0
    assert last_line(place.make()).startswith("rdc: WAITING 1/")
    for words in (["status"], ["-n", "resume"], ["resume", "REPLY=yes"], ["status"]):
        assert place.make(*words).returncode == 0
    assert place.lines("log") == ["in"]
    assert not list(tmp_path.rglob("canary*"))


def test_the_message_of_a_nested_runbook_is_shown_once(tmp_path: Path) -> None:
    main = "# Main\n\n## 1. Out\n\n- in.runbook.md\n\n- FAIL ANY: CONTINUE\n\n## 2. Ask\n\nIs it?\n"
    nested = '# In\n\n## 1. Do\n\n```sh\necho in\n```\n\n- PASS: STOP "The inner one says no; it\'s $HOME"\n'
    place = Place(tmp_path, main, {"in.runbook.md": nested})
    done = place.make()
    assert (done.stdout + done.stderr).count("The inner one says no; it's $HOME") == 1
    assert "The inner" not in place.make("resume").stderr


def test_a_flow_that_no_shell_could_be_given_is_refused() -> None:
    nodes = [node(str(n), shell("true"), when("pass", str(n + 1)), when("fail", "stop")) for n in range(1, 5001)]
    found = MakeBackend().emit(program(*nodes, node("5001", shell("true"))), {})
    assert (found.text, [each.code for each in found.diagnostics]) == (None, ["RD502"])
