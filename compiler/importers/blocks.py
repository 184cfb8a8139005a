"""Classify the code blocks of a page: commands to run or to show, output, and samples."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

from msgspec import Struct

from compiler.frontends.rundown.check.blocks import PLACEHOLDER, shell_text
from compiler.frontends.rundown.check.shell import Command, read_commands
from compiler.importers.commands import VALUED, all_words, harm_of, has_stages, opens_shell, waits, word_set
from compiler.importers.placeholders import assigned, why_open
from compiler.text.regex import Regex

SHELLS = frozenset({"bash", "sh", "shell", "zsh", "ksh", "dash", "commandline", "cmd-line"})
SESSIONS = word_set("console terminal shell-session shellsession sh-session bash-session session term")
PLAIN = frozenset({"", "text", "txt", "plain", "plaintext", "none", "log", "output", "out"})
LONGEST = 100_000  # the longest command, below the 127 KiB that a runbook accepts
_PROMPT = Regex(r"[ \t]*+(?>(?:\([\w.-]+\)[ \t]*+)?)[$%❯➜][ \t]+(?=\S)")
_OTHER = Regex(
    r"(?i)[ \t]*(?:\[?[\w.-]+@[\w.-]+[^\n]{0,80}?[#$%>][ \t]|(?:b?a|z)?sh-[\d.]+[#$%]|(?:mysql|mariadb"
    r"|psql|sqlite|mongo\w*|redis|irb|postgres|cqlsh|ghci|iex|\w+db)\b[^\n]{0,40}[>#](?:[ \t]|$)"
    r"|>>>[ \t]|In \[\d+\]:|PS[ \t]|[A-Z]:\\)"
)
_WEAK = Regex(r"[ \t]*(?:[\w/~.-]*[ \t]?#[ \t]|[\w.:/-]{1,60}>[ \t])")
"""Both match the prompt of another machine, user or program; the second one needs a known command behind it."""
_BODY = Regex(r"<<-?[ \t]*['\"\\]?(\w+)")
_LEFT_OUT = Regex(r"(?:^|[\s\[<(])(?:\.{3}|…)(?:$|[\s\])>])|…|\s\[--?\w", re.MULTILINE)
_WHOLE_COMMENT = Regex(r"(?m)^[ \t]*#.*$")
_OUTPUT = Regex(
    r"(?m)^[ \t]*(?![^\n]*(?:[#|;&=\"'$]|[ \t]-))(?:\S+(?: \S+)*[ \t]{2,}){2}\S"
    r"|^[ \t]*[\w./-]+(?: \"[^\"\n]+\")? (?:configured|created|deleted|patched|restarted|scaled|unchanged|labell?ed)$"
    r"|^[ \t]*(?:debug|error|fatal|info|level|msg|time|trace|ts|warn(?:ing)?)(?:=|:[ \t]|\t|[ \t]{2,})"
)
_HOST = Regex(r"@[A-Za-z][\w.-]*")  # an alias, as in `wp @shop option get home`
_NAME = Regex(r"(?:[a-z_./~$\"{][\w./+@${}~\"-]*|\[{1,2}|R|Rscript|:)")
_OTHER_LANGUAGE = Regex(
    r"(?m)\{\{|\{%|(?<!;);[ \t]*$|^[ \t]*(?:import|from|def|class|const|let|var|SELECT)\s|^[ \t]*\w+(?: [\w-]+)+ \{$"
)
_QUERIES = word_set("sql postgresql psql pgsql mysql sqlite promql logql")
_OPTION = Regex(r"[a-z]\S* (?:\S+ )*-\S")
_PLAIN_WORD = Regex(r"[\w./@][\w./@:-]*")
_FILE = Regex(
    r"(?!-)(?=.{1,60}$)(?:https?://[^\s=]+|\S+\.(?:conf|csv|js|json|jsonnet|md|py|rb|sh|sql|tf|toml|ts|ya?ml))"
)
_PREPARES = word_set("cd mkdir pushd source set .")
_HEADS = word_set("[ [[ for case select set test export declare local echo")
_SETTING = frozenset({"=", ":=", "==", "=>", "->", ":", "|"})
_ARRAY = Regex(r"[A-Z_]+=\(")
_PROGRAMS = word_set("""ansible ansible-playbook apk apt apt-get awk aws az base64 bash brew bundle cargo cat cd chmod
chown composer conda cp crictl crontab curl date dd df dig dnf docker docker-compose du echo etcdctl export find flux
fsck gcloud gem gh git go gpg grep gunzip gzip helm hostname htop ifconfig ip iptables java journalctl jq kill
kubeadm kubectl kustomize ls lsblk lsof make mdadm mkdir mongo mount mv mvn mysql netstat nginx node npm npx nslookup
oc openssl passwd pg_dump ping pip pip3 pipenv pnpm podman poetry ps psql pwd python python3 rake redis-cli rm rsync
ruby scp sed service sh source ss ssh su sudo systemctl tail tar tee terraform top touch umount unzip uv vagrant
vault vi vim wget which yarn yum zfs zip zpool zypper""")
"""Programs that an untagged block or a code span of a page may start with."""
_OPENING = "it opens a shell, so the commands below are for another machine or program"


class Block(Struct, frozen=True):
    """A code block: its kind, its code without prompts, and the output below the commands.

    `why` is the reason why a command is only shown, as words for a report. `opens` means that it opens a shell on
    another machine or in another program. `harm` has the lines that delete or change something.
    """

    kind: Literal["run", "show", "output", "sample"]
    code: str
    output: str = ""
    tag: str = ""
    why: str = ""
    opens: bool = False
    harm: tuple[str, ...] = ()


def read_block(info: str, text: str) -> Block:
    """Classify a code block."""
    tag = tag_of(info)
    is_shell, is_plain = tag in SHELLS or tag in SESSIONS, tag in PLAIN
    lines = text.rstrip("\n").split("\n")
    if not (is_shell or is_plain) or not text.strip() or text.lstrip().startswith(("```", "~~~")):
        return Block("sample", text, tag=tag)
    code, output = _session(lines)
    others = (line for line in (output.split("\n") if code else lines) if _is_other(line, is_weak=tag not in SHELLS))
    if next(others, None) is not None:  # a dialogue stays in its order
        opens = any(map(opens_shell, read_commands(code).commands))
        return Block("show", text, tag=tag, why="the prompt is of another machine, user or program", opens=opens)
    if code:
        return _command(code, output, tag)
    if is_shell and looks_like_command(text):
        why = "the block is a session without a prompt" if tag in SESSIONS else ""
        return _command(text, "", tag, why)
    if is_plain and tag not in {"log", "output", "out"} and _starts_like_command(text):
        opens = any(map(opens_shell, read_commands(text).commands))
        return Block("show", text, tag=tag, why="the block has no shell tag", opens=opens)
    first = next(line for line in lines if line.strip())
    if is_shell and any(map(opens_shell, read_commands(PLACEHOLDER.sub("X", first)).commands)):
        return Block("show", text, tag=tag, why=_OPENING, opens=True)
    return Block("sample" if is_shell else "output", text, tag=tag)


def _is_other(line: str, *, is_weak: bool) -> bool:
    is_typed = is_weak and _WEAK.match(line) is not None and _starts_like_command(_WEAK.sub("", line, count=1))
    return is_typed or _OTHER.match(line) is not None


def tag_of(info: str) -> str:
    """Return the language of an info string."""
    word = re.sub(r"[{}.]", " ", info).split()
    return word[0].lower() if word else ""


def looks_like_command(code: str) -> bool:
    """Return whether code is certainly meant for a shell, whole and readable."""
    if len(code) > LONGEST or _LEFT_OUT.search(_WHOLE_COMMENT.sub("", code)):
        return False
    if any(row[0].split()[0] not in _PROGRAMS for row in _OUTPUT.finditer(shell_text(code))):
        return False
    if not all(char.isprintable() or char in "\n\t" for char in code):
        return False  # an invisible character can hide a command
    plain = PLACEHOLDER.sub("X", code)
    commands = read_commands(plain).commands
    is_other = _OTHER_LANGUAGE.search(shell_text(plain, all_words=True)) is not None  # also templates such as Jinja's
    return bool(commands) and not is_other and all(map(_is_plausible, commands))


def _is_plausible(command: Command) -> bool:
    if not command.name:
        return bool(command.assigned) or bool(command.inside)
    rest = command.words[command.words.index(command.name) + 1 :]
    is_setting = any(word in _SETTING or _ARRAY.match(word) for word in rest[:1]) and command.name not in {"[", "[["}
    return _NAME.fullmatch(command.name) is not None and not is_setting


def _starts_like_command(text: str) -> bool:
    commands = read_commands(PLACEHOLDER.sub("X", text)).commands
    return bool(commands) and commands[0].name.rpartition("/")[2] in _PROGRAMS and looks_like_command(text)


def is_command_span(text: str) -> bool:
    """Return whether the code in a sentence is a whole command."""
    return " " in text.strip() and _starts_like_command(text)


def is_typed(block: Block) -> bool:
    """Return whether a block that isn't a command may be typed: a query, or one line with an option."""
    is_line = block.kind == "output" and "\n" not in block.code.strip() and _OPTION.search(block.code)
    return block.tag in _QUERIES or bool(is_line and looks_like_command(block.code))


def _session(lines: Sequence[str]) -> tuple[str, str]:
    code: list[str] = []
    output: list[str] = []
    end, goes_on = "", False
    for line in lines:
        if end or goes_on:
            code.append(line.removeprefix("> "))
            end = "" if code[-1].strip() == end else end
        elif prompt := _PROMPT.match(line):
            code.append(line[prompt.end() :])
        else:
            output.append(line)
            continue
        if not end and (body := _BODY.search(code[-1])) and "<<<" not in code[-1] and not goes_on:
            end = body[1]
        goes_on = not end and code[-1].endswith("\\")
    return ("\n".join(code) + "\n", "\n".join(output).strip("\n")) if code else ("", "")


def _command(code: str, output: str, tag: str, why: str = "") -> Block:
    commands = read_commands(PLACEHOLDER.sub("X", code)).commands
    opens = any(map(opens_shell, commands))
    if _LEFT_OUT.search(_WHOLE_COMMENT.sub("", code)):
        return Block("sample", code, output, tag, opens=opens)
    if not looks_like_command(code):
        return Block("show", code, output, tag, "it doesn't look like a whole command", opens)
    harm = tuple(dict.fromkeys(harm_of(code, commands)))
    why = why or why_open(code) or _why_shown(code, commands, harm)
    return Block("show" if why else "run", code, output, tag, why, opens, harm)


def _why_shown(code: str, commands: Sequence[Command], harm: Sequence[str]) -> str:
    if any(_HOST.fullmatch(word) for words in all_words(code) for word in words[1:2]):
        return "it names another host"
    if any(map(opens_shell, commands)):
        return _OPENING
    if any(map(waits, commands)):
        return "it may open an editor, or show lines until you stop it"
    return "it has several stages, and a person looks in between" if has_stages(code, commands, harm) else ""


def programs_of(code: str) -> list[str]:
    """Return the name of each program that a block runs, without sudo and similar wrappers."""
    return [words[0].rpartition("/")[2] for words in all_words(code)]


def summary_of(code: str) -> str:
    """Return a short instruction for a block, such as `Run git fetch` or `Set NAME`."""
    prompt = _OTHER.match(code)
    code = code[prompt.end() :].partition("\n")[0] if prompt and "@" in prompt[0] else code
    found = [words for words in all_words(code) if words[0] not in _HEADS]
    words = next((words for words in found if words[0] not in _PREPARES), found[0] if found else [])
    words = words[:1] + words[3:] if len(words) > 3 and words[1] in VALUED else words
    names = [name for command in read_commands(code).commands for name in assigned(command.words)]
    named = list(takewhile(_PLAIN_WORD.fullmatch, words))[:3]
    plain = " ".join(named if len(named) > 1 else [*named, *filter(_FILE.fullmatch, words[1:])][:2])
    return f"Run {plain}" if plain else f"Set {' and '.join(names[:2])}" if names else "Run the commands"
