"""Classify the code blocks of a page: commands to run or to show, output, and samples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from compiler.frontends.rundown.check.blocks import PLACEHOLDER, shell_text
from compiler.frontends.rundown.check.shell import Command, read_commands
from compiler.text.regex import Regex

SHELLS = frozenset({"bash", "sh", "shell", "zsh", "ksh", "dash", "commandline", "cmd-line"})
SESSIONS = frozenset(
    {"console", "terminal", "shell-session", "shellsession", "sh-session", "bash-session", "session", "term"}
)
PLAIN = frozenset({"", "text", "txt", "plain", "plaintext", "none", "log", "output", "out"})

LONGEST = 100_000  # the longest command, below the 127 KiB that a runbook accepts

_PROMPT = Regex(r"[ \t]*+(?:\([\w.-]+\)[ \t]*+)?+[$%❯➜][ \t]+(?=\S)")
_OTHER = Regex(
    r"[ \t]*(?:\[?[\w.-]+@[\w.-]+[^\n]{0,80}?[#$%>][ \t]|(?:b?a|z)?sh-[\d.]+[#$%]"
    r"|(?:mysql|mariadb|psql|sqlite|mongo\w*|redis|irb|postgres|cqlsh|ghci|iex|\w+db)\b[^\n]{0,40}[>#](?:[ \t]|$)"
    r"|>>>[ \t]|In \[\d+\]:|PS[ \t]|[A-Z]:\\)",
    re.IGNORECASE,
)
_WEAK = Regex(r"[ \t]*(?:[\w/~.-]*[ \t]?#[ \t]|[\w.:/-]{1,60}>[ \t])")
"""Both match the prompt of another machine, user or program; the second one needs a known command behind it."""

_BODY = Regex(r"<<-?[ \t]*['\"\\]?(\w+)")
_LEFT_OUT = Regex(r"(?:^|[\s\[<(])(?:\.{3}|…)(?:$|[\s\])>])|…|\s\[--?\w", re.MULTILINE)
_OPEN = Regex(r"(?<!<)<\w[^<>\n]*>|(?<![$@\w}])\{[A-Za-z][\w -]*\}|(?<=\s)\[[^\s\]]+\](?=\s|$)")
"""Matches a placeholder that no input replaces, such as `{name}`, `[name]`, or `<org:team>` between two words."""

_NAME = Regex(r"(?:[a-z_./~$\"{][\w./+@${}~\"-]*|\[{1,2}|R|Rscript|:)")
_ONLY_COMMENTS = Regex(r"(?:[ \t]*(?:#[^\n]*)?\n?)*+")
_OTHER_LANGUAGE = Regex(
    r"\{\{|\{%|(?<!;);[ \t]*$|^[ \t]*(?:import|from|def|class|const|let|var|SELECT)[ \t]", re.MULTILINE
)
_SETTING = frozenset({"=", ":=", "==", "=>", "->", ":", "|"})

_ARRAY = Regex(r"[A-Z_]+=\(")

_PROGRAMS_WORDS = """
ansible ansible-playbook apk apt apt-get awk aws az base64 bash brew bundle cargo cat cd chmod chown composer conda cp
crictl crontab curl date dd df dig dnf docker docker-compose du echo etcdctl export find flux gcloud gem gh git go gpg
grep gunzip gzip helm hostname htop ifconfig ip iptables java journalctl jq kill kubeadm kubectl kustomize ls lsblk
lsof make mkdir mongo mount mv mvn mysql netstat nginx node npm npx nslookup oc openssl passwd pg_dump ping pip pip3
pipenv pnpm podman poetry ps psql pwd python python3 rake redis-cli rm rsync ruby scp sed service sh source ss ssh su
sudo systemctl tail tar tee terraform top touch unzip uv vagrant vault vi vim wget which yarn yum zip zypper
"""
_PROGRAMS = frozenset(_PROGRAMS_WORDS.split())
"""Programs that an untagged block or a code span of a page may start with."""

_WRAPPERS = frozenset({"sudo", "env", "time", "nohup", "doas", "watch", "xargs", "exec", "command", "nice"})
_OPENS_WORDS = """
bpython chroot cqlsh ftp ghci iex ipython irb mariadb mongo mongosh mosh mysql nsenter pry psql rlogin screen sftp
sqlplus ssh su telnet tmux
"""
_OPENS = frozenset(_OPENS_WORDS.split())
_OPENS_BARE_WORDS = "bash sh zsh fish ksh dash python python3 node ruby redis-cli sqlite3 php lua R"
_OPENS_BARE = frozenset(_OPENS_BARE_WORDS.split())
_OPENING_WORDS = frozenset(
    {"rsh", "ssh", "attach", "console", "shell", "dbshell", "dbconsole", "start-session", "debug"}
)
_OPENING_TOOLS_WORDS = (
    "oc kubectl docker docker-compose podman vagrant gcloud az aws heroku fly flyctl rails minikube virsh"
)
_OPENING_TOOLS = frozenset(_OPENING_TOOLS_WORDS.split())
_TAKE = frozenset({"-u", "-e", "-w", "-v", "-p", "-c", "-n", "--user", "--env", "--name", "--namespace", "--container"})
_TTY = Regex(r"-(?:it|ti|i|t)[a-z]?|--(?:tty|interactive|stdin)")
_EDITORS_WORDS = "vi vim nvim nano emacs pico ed visudo vipw vigr less more man top htop watch edit sudoedit"
_EDITORS = frozenset(_EDITORS_WORDS.split())
_SERVES = frozenset({"serve", "watch", "live", "port-forward", "runserver", "http.server", "livereload"})
_RUNNERS = frozenset({"npm", "yarn", "pnpm", "foreman", "goreman", "honcho"})
_FOLLOWS = Regex(r"-f|-F|--follow(?:=true)?|-w|--watch(?:=true)?|-Lf|-fn?\d+|-nf")

_HARM_WORDS = """
apply autoremove clean cleanup comment cordon dd decommission defrag del delete demote deploy deprovision deregister
destroy detach disable down drain drop erase evict failover fdisk flush flushall flushdb groupdel halt iptables kill
killall mask merge migrate mkfs mongorestore parted passwd patch pkill poweroff promote prune publish purge push
quarantine rebase reboot recreate release reload remove replace reset restart restore revoke rm rmdir rollback rollout
scale shred shutdown stop switchover terminate truncate undo uninstall unlink unregister upgrade upload userdel
usermod wipe wipefs
"""
_HARM = frozenset(_HARM_WORDS.split())
_HARM_FLAG = Regex(
    r"--(?:delete|force|prune|purge|hard|remove|restart|stop)(?:-.*)?|-(?:delete|XDELETE|XPOST|XPUT|XPATCH)|mkfs.*"
    r"|DELETE|POST|PUT|PATCH|--(?:data|data-raw|data-binary|upload-file|form)|-exec"
)
_SQL = Regex(
    r"\b(?:drop\s+\w+|truncate|delete\s+from|alter\s+\w+|update\s+[\w.]+\s+set|insert\s+into)\b", re.IGNORECASE
)
_READS_WORDS = """
[ [[ awk cat cd date df diff dig du echo egrep fgrep grep head jq less ls lsb_release lsof man nslookup ping printf ps
rg sort tail test true type uniq wc which yq
"""
_READS = frozenset(_READS_WORDS.split())
_PLAIN = Regex(r"[^/.=:@$]*|[a-z][a-z-]*(?::[a-z-]+)+")  # also a task such as `db:migrate`
_PARTS = Regex(r"[a-z]+")
_RUNS_TEXT = frozenset({"sh", "bash", "psql", "mysql", "mariadb", "sqlite3"})
_PUBLISHES = frozenset({"create", "edit", "close", "reopen", "review"})
_SENDS = frozenset({"-f", "-F", "--field", "--raw-field", "--input"})

_OPENING = "it opens a shell, so the commands below are for another machine or program"

Kind = Literal["run", "show", "output", "sample"]


class Block(Struct, frozen=True):
    """A code block: its kind, its code without prompts, and the output below the commands.

    `why` is the reason why a command is only shown, as words for a report. `opens` means that it opens a shell on
    another machine or in another program. `harm` has the lines that delete or change something.
    """

    kind: Kind
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
    if not (is_shell or is_plain) or not text.strip():
        return Block("sample", text, tag=tag)
    code, output = _session(lines)
    if code:
        return _command(code, output, tag)
    weak = next((line for line in lines if _WEAK.match(line) and tag not in SHELLS), "")
    is_other = any(map(_OTHER.match, lines)) or (weak and _starts_like_command(_WEAK.sub("", weak, count=1)))
    if is_other:
        return Block("show", text, tag=tag, why="the prompt is of another machine, user or program")
    if is_shell and looks_like_command(text):
        why = "the block is a session without a prompt" if tag in SESSIONS else ""
        return _command(text, "", tag, why)
    if is_plain and tag not in {"log", "output", "out"} and _starts_like_command(text):
        opens = any(map(_opens, read_commands(text).commands))
        return Block("show", text, tag=tag, why="the block has no shell tag", opens=opens)
    first = next(line for line in lines if line.strip())
    if is_shell and any(map(_opens, read_commands(PLACEHOLDER.sub("X", first)).commands)):
        return Block("show", text, tag=tag, why=_OPENING, opens=True)
    return Block("sample" if is_shell else "output", text, tag=tag)


def tag_of(info: str) -> str:
    """Return the language of an info string."""
    word = re.sub(r"[{}.]", " ", info).split()
    return word[0].lower() if word else ""


def looks_like_command(code: str) -> bool:
    """Return whether code is certainly meant for a shell, whole and readable."""
    if len(code) > LONGEST or _ONLY_COMMENTS.fullmatch(code) or _LEFT_OUT.search(code):
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


def _session(lines: Sequence[str]) -> tuple[str, str]:
    """Return the commands below prompts and the other lines, or nothing without a prompt."""
    code: list[str] = []
    output: list[str] = []
    end, goes_on = "", False
    for line in lines:
        prompt = _PROMPT.match(line)
        if end:
            code.append(line)
            end = "" if line.strip() == end else end
        elif prompt and not goes_on:
            code.append(line[prompt.end() :])
        elif goes_on:
            code.append(line.removeprefix("> "))
        else:
            output.append(line)
            continue
        if not end and (body := _BODY.search(code[-1])) and "<<<" not in code[-1] and not goes_on:
            end = body[1]
        goes_on = not end and code[-1].endswith("\\")
    return ("\n".join(code) + "\n", "\n".join(output).strip("\n")) if code else ("", "")


def _command(code: str, output: str, tag: str, why: str = "") -> Block:
    if _LEFT_OUT.search(code):
        return Block("sample", code, output, tag)
    why = why or ("it has a path of an example" if "path/to/" in code else "")
    if not looks_like_command(code):
        return Block("show", code, output, tag, "it doesn't look like a whole command")
    plain = PLACEHOLDER.sub("X", code)
    commands = read_commands(plain).commands
    opens = any(map(_opens, commands))
    if _OPEN.search(shell_text(plain, all_words=True)):
        why = why or "it has a placeholder that no input replaces"
    if opens:
        why = why or _OPENING
    elif any(map(_waits, commands)):
        why = why or "it opens an editor, or shows lines until you stop it"
    return Block("show" if why else "run", code, output, tag, why, opens, tuple(dict.fromkeys(_harm(code, commands))))


def programs_of(code: str) -> list[str]:
    """Return the name of each program that a block runs, without sudo and similar wrappers."""
    found = map(_words, read_commands(PLACEHOLDER.sub("X", code)).commands)
    return [words[0].rpartition("/")[2] for words in found if words]


def _words(command: Command) -> list[str]:
    return _unwrapped([word.strip("'\"") for word in command.words])


def _unwrapped(words: list[str]) -> list[str]:
    """Return the words of a command without assignments and wrappers such as sudo."""
    while words and ("=" in words[0] or words[0] in _WRAPPERS - {"watch"}):
        is_sudo = words.pop(0) == "sudo"
        while is_sudo and words and words[0].startswith("-") and words[0] not in {"-i", "-s"}:
            takes_value = words.pop(0) in {"-u", "-g", "--user", "--group"}
            words = words[1:] if takes_value else words
    return words


def _opens(command: Command) -> bool:
    return _opens_shell(_words(command), command.before)


def _opens_shell(words: list[str], before: str = "") -> bool:
    name = words[0].rpartition("/")[2] if words else ""
    rest = words[1:]
    if name in {"-i", "-s"} or (name in _OPENS_BARE and not rest and not before.startswith("|")):
        return True
    if name in {"psql", "mysql", "mariadb"}:
        return not {"-c", "-e", "-f", "-l", "--command", "--execute"} & set(rest) and before != "|"
    if name in _OPENS:
        return not {"-V", "--version", "ls", "-h", "--help"} & set(rest)
    if name in _OPENING_TOOLS or "manage.py" in words[:2]:
        if _OPENING_WORDS & {word for word in rest[:4] if not word.startswith("-")}:
            return True
        if {"exec", "run"} & set(rest):
            inner = _inner(rest)
            return _opens_shell(inner) if inner else any(map(_TTY.fullmatch, rest))
    return False


def _inner(rest: list[str]) -> list[str]:
    """Return the command that `docker exec` or `kubectl exec` runs in a container."""
    if "--" in rest:
        return _unwrapped(rest[rest.index("--") + 1 :])
    place = 1 + min(rest.index(word) for word in ("exec", "run") if word in rest)
    while place < len(rest) and rest[place].startswith("-"):
        place += 1 + (rest[place] in _TAKE)
    return _unwrapped(rest[place + 1 :])


def _waits(command: Command) -> bool:
    words = _words(command)
    name = words[0].rpartition("/")[2] if words else ""
    if name in _EDITORS and command.before != "|":
        return True
    if (
        "edit" in words[1:4]
        or (name == "crontab" and "-e" in words)
        or (name == "git" and words[1:3] == ["rebase", "-i"])
    ):
        return True
    if _SERVES & {word.rpartition(":")[2] for word in words} or (
        name in _RUNNERS and {"start", "dev"} & set(words[1:3])
    ):
        return True
    if "up" in words[1:4] and {"compose", "docker-compose"} & set(words[:2]) and not {"-d", "--detach"} & set(words):
        return True
    follows = name in {"tail", "journalctl", "kubectl", "oc", "docker", "docker-compose", "podman", "stern"}
    is_file = "apply" in words or "create" in words or "delete" in words or "replace" in words or "--filename" in words
    return follows and not is_file and any(map(_FOLLOWS.fullmatch, words[1:]))


def _harm(code: str, commands: Sequence[Command]) -> Iterator[str]:
    lines = code.split("\n")
    shown = PLACEHOLDER.sub("X", code)
    for command in commands:
        words = _words(command)
        name = words[0].rpartition("/")[2] if words else ""
        is_sql = _SQL.search(" ".join(words)) is not None
        runs_text = name in _RUNS_TEXT and command.before == "|"
        if not (is_sql or runs_text) and (name in _READS or not _does_harm(name, words[1:])):
            continue
        yield lines[shown.count("\n", 0, command.start)].strip()
    if _SQL.search(code) and not any(_SQL.search(" ".join(_words(one))) for one in commands):
        yield from (line.strip() for line in lines if _SQL.search(line))


def _does_harm(name: str, rest: Sequence[str]) -> bool:
    plain = [word for word in rest if not word.startswith("-") and (" " in word or _PLAIN.fullmatch(word))][:5]
    parts = {part for word in (name, *plain) for part in _PARTS.findall(word)}
    if name in {"gh", "glab"} and (
        _PUBLISHES & set(rest[:2])
        or (rest[:1] == ["api"] and _SENDS & set(rest) and ("graphql" not in rest or "mutation" in " ".join(rest)))
    ):
        return True
    edits = name in {"sed", "perl"} and any(word.startswith("-i") for word in rest)
    return bool(parts & _HARM) or edits or any(map(_HARM_FLAG.fullmatch, rest))
