"""Classify the code blocks of a page: commands to run or to show, output, and samples."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Literal

from msgspec import Struct

from compiler.frontends.rundown.check.blocks import PLACEHOLDER, shell_text
from compiler.frontends.rundown.check.shell import Command, read_commands
from compiler.importers.placeholders import assigned, why_open
from compiler.text.regex import Regex


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


SHELLS = frozenset({"bash", "sh", "shell", "zsh", "ksh", "dash", "commandline", "cmd-line"})
SESSIONS = _set("console terminal shell-session shellsession sh-session bash-session session term")
PLAIN = frozenset({"", "text", "txt", "plain", "plaintext", "none", "log", "output", "out"})
LONGEST = 100_000  # the longest command, below the 127 KiB that a runbook accepts

_PROMPT = Regex(r"[ \t]*+(?>(?:\([\w.-]+\)[ \t]*+)?)[$%❯➜][ \t]+(?=\S)")
_OTHER = Regex(
    r"[ \t]*(?:\[?[\w.-]+@[\w.-]+[^\n]{0,80}?[#$%>][ \t]|(?:b?a|z)?sh-[\d.]+[#$%]|(?:mysql|mariadb|psql|sqlite|mongo\w*"
    r"|redis|irb|postgres|cqlsh|ghci|iex|\w+db)\b[^\n]{0,40}[>#](?:[ \t]|$)|>>>[ \t]|In \[\d+\]:|PS[ \t]|[A-Z]:\\)",
    re.IGNORECASE,
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
"""Matches a row of a table, a message such as `pod/shop created`, or a line of a log."""
_HOST = Regex(r"@[A-Za-z][\w.-]*")  # an alias, as in `wp @shop option get home`
_NAME = Regex(r"(?:[a-z_./~$\"{][\w./+@${}~\"-]*|\[{1,2}|R|Rscript|:)")
_OTHER_LANGUAGE = Regex(
    r"\{\{|\{%|(?<!;);[ \t]*$|^[ \t]*(?:import|from|def|class|const|let|var|SELECT)[ \t]|^[ \t]*\w+(?: [\w-]+)+ \{$",
    re.MULTILINE,
)
_QUERIES = _set("sql postgresql psql pgsql mysql sqlite promql logql")
_OPTION = Regex(r"[a-z]\S* (?:\S+ )*-\S")
_PLAIN_WORD = Regex(r"[\w./@][\w./@:-]*")
_FILE = Regex(
    r"(?!-)(?=.{1,60}$)(?:https?://[^\s=]+|\S+\.(?:conf|csv|js|json|jsonnet|md|py|rb|sh|sql|tf|toml|ts|ya?ml))"
)
_PREPARES = _set("cd mkdir pushd source set .")
_HEADS = _set("[ [[ for case select set test export declare local echo")
_SETTING = frozenset({"=", ":=", "==", "=>", "->", ":", "|"})
_ARRAY = Regex(r"[A-Z_]+=\(")
_PROGRAMS = _set("""
ansible ansible-playbook apk apt apt-get awk aws az base64 bash brew bundle cargo cat cd chmod chown composer conda cp
crictl crontab curl date dd df dig dnf docker docker-compose du echo etcdctl export find flux fsck gcloud gem gh git go
gpg grep gunzip gzip helm hostname htop ifconfig ip iptables java journalctl jq kill kubeadm kubectl kustomize ls lsblk
lsof make mdadm mkdir mongo mount mv mvn mysql netstat nginx node npm npx nslookup oc openssl passwd pg_dump ping pip
pip3 pipenv pnpm podman poetry ps psql pwd python python3 rake redis-cli rm rsync ruby scp sed service sh source ss ssh
su sudo systemctl tail tar tee terraform top touch umount unzip uv vagrant vault vi vim wget which yarn yum zfs zip
zpool zypper
""")
"""Programs that an untagged block or a code span of a page may start with."""

_WRAPPERS = frozenset({"sudo", "env", "time", "nohup", "doas", "watch", "xargs", "exec", "command", "nice"})
_OPENS = _set("""
bpython chroot cqlsh ftp ghci iex ipython irb mariadb mongo mongosh mosh mysql nsenter pry psql rlogin screen sftp
sqlplus ssh su telnet tmux
""")
_OPENS_BARE = _set("bash sh zsh fish ksh dash python python3 node ruby redis-cli sqlite3 php lua R")
_GIVEN = Regex(r"-[cefl]|--(?:command|eval|execute|file)\b|<")
_REMOTE = Regex(r"(?>(?:-[BbcDEeFIiJLlmOopQRSWw] ?\S+ |-\S+ )*)(?!-)\S+ (?P<code>\S+\s.+)", re.DOTALL)
"""Matches the words behind `ssh`: its options, the host, and a command that ends by itself."""
_OPENING_WORDS = _set("rsh ssh attach console shell dbshell dbconsole start-session debug")
_OPENING_TOOLS = _set(
    "oc kubectl docker docker-compose podman vagrant gcloud az aws heroku fly flyctl rails minikube virsh"
)
_TAKE = frozenset({"-u", "-e", "-w", "-v", "-p", "-c", "-n", "--user", "--env", "--name", "--namespace", "--container"})
_TTY = Regex(r"-(?:it|ti|i|t)[a-z]?|--(?:tty|interactive|stdin)")
_LAUNCHERS = _set("bundle bunx hatch node npx php pipenv pnpm poetry python python3 ruby sh bash uv uvx yarn")
_WAITS = Regex(
    r"git (?:rebase -i |commit (?!(?:.* )?(?:-[a-z]*[mFC]|--(?:file|fixup|message|no-edit)\b)))"
    r"|(?:docker[ -])?compose (?:\S+ ){0,2}up (?!(?:.* )?--?d(?:etach)? )"
    r"|(?:(?:tail|journalctl) (?:.* )?|(?:.* )?(?:logs|get|events) (?:.* )?)"
    r"(?:-[fFw]|-Lf|-fn?\d+|-nf|--(?:follow|watch)(?:=true)?) |pm2 logs (?!(?:.* )?--nostream )"
    r"|(?:fly|flyctl|railway) logs (?!(?:.* )?(?:-n|--no-tail|--lines) )|\S+ logs? tail "
    r"|(?:docker|podman) (?:events |stats (?!(?:.* )?--no-stream ))|ping (?!(?:.* )?-c)"
    r"|(?:.*[ :])?(?:serve|watch|live|--watch) "
)

_HARMLESS = _set("""
: [ [[ awk base64 basename break case cat cd column comm continue cp curl cut date declare df diff dig dirname du echo
egrep env exit export false fgrep file find for free grep gunzip gzip head host hostname id jest jq local ls
lsb_release lsblk lsof md5sum mkdir mktemp mypy netstat nproc nslookup openssl pg_dump pg_isready pgrep ping printf ps
pwd pytest read readlink readonly realpath return rg ruff sed select seq set sha256sum shift sleep sort ss ssh stat
tail tar test touch tox tr true tsc type uname uniq unset unzip uptime vitest wait wc wget which while whoami yq zip
""")
"""Programs that only look, compute or write a new file, unless an option or an output changes something."""
_PROJECT_TOOLS = _set("""
bun bundle cargo composer deno docker dotnet flutter go gradle gradlew helm just make mvn mvnw npm pip pip3 pipenv pnpm
poetry python python3 rake terraform uv yarn
""")
_BUILDS = _set("""
build check ci clippy compile coverage doctor fmt format install lint package pytest pull sync template test tests
typecheck types validate venv verify vet
""")
"""Tasks of such tools that change only the folder."""
_GIT = _set("""
add blame branch checkout clone commit describe diff fetch init log ls-files ls-remote merge-base pull remote rev-list
rev-parse show status switch tag
""")
_QUERY = Regex(r"(?:--\w+=)?\W*(?:select|show|explain)\b|\\[dl]", re.IGNORECASE)
_RUNNER = Regex(r"(?:uv|poetry|pipenv|hatch) run |bundle exec |(?:npx|bunx|uvx) (?:-y )?|pnpm (?:exec|dlx) ")
_LOOKUP = Regex(r"(?:describe|get|list)-[a-z-]+")  # as `aws` has them

_HARM = _set("""
apply autoremove bump cherrypick clean cleanup comment cordon dd decommission defrag del delete demote deploy
deprovision deregister destroy detach disable down drain drop erase evict failover fdisk flush flushall flushdb
groupdel halt iptables kill killall mask merge migrate mkfs mongorestore overwrite parted passwd patch pkill poweroff
promote prune publish purge push quarantine rebase reboot recreate release reload remove renew replace rerun reset
restart restore revoke rm rmdir rollback rollout rotate scale shred shutdown stop switchover terminate truncate undo
uninstall unlink unregister upgrade upload userdel usermod wipe wipefs
""")
_HARM_FLAG = Regex(
    r"--(?:delete|force|overwrite|prune|purge|hard|regenerate|remove|restart|rotate|stop|write)(?:-.*)?|-(?:delete|XDELETE|XPOST|XPUT|XPATCH)|mkfs.*"
    r"|DELETE|POST|PUT|PATCH|--(?:data|data-raw|data-binary|upload-file|form)|-exec"
)
_CHANGES = Regex(
    r"(?!source )(?:.* )/etc/|systemctl (?:\S+ )?(?:enable|start) |git checkout (?:.* )?(?:--|\.) "
    r"|(?:docker[ -])?compose (?:\S+ ){0,4}up |sed (?:.* )?(?:-[a-zA-Z]*i\S*|--in-?place\S*) "
    r"|git (?:branch|tag) (?:.* )?-[dD] "
    r"|cp (?!(?:.* )?(?:\.|\S*(?:/|[.-](?:bak|backup|old|orig)|~|\))) $)"  # no copy into a folder, or one to keep
)
_SHOWS = _set("describe diff explain get help history info inspect list logs ls search show status view")
_LOOKS = _SHOWS | {"audit", "check", "preflight", "test", "verify"}  # in the name of a script
_DRY = Regex(r"--dry-?run(?:=(?!none).*)?")
_WRITES = Regex(r"(?<![<>&\d=-])1?>\|?(?![>&(])[ \t]*(?!/dev/|/tmp/)\S|>>[ \t]*(?:[~/]|\$\{?HOME)(?!dev/|tmp/)")
"""Matches a redirection that overwrites a file, or that adds to one outside of the folder."""
_SQL = Regex(
    r"\b(?:drop\s+\w+|truncate|vacuum|delete\s+from|alter\s+\w+|update\s+[\w.]+\s+set|insert\s+into)\b", re.IGNORECASE
)
_READS = _set("""
[ [[ awk cat cd date df diff dig du echo egrep fgrep grep head jq ls lsb_release lsof nslookup ping printf ps rg sort
tail test tree true type uniq wc which
""")
_QUIET = _set("[ [[ cd date echo printf test true type which")
_LOOK_WORDS = _SHOWS | _set("--dry-run health images is-active log plan ps top version")  # they print something to read
_FILES = _set("cd chmod chown cp make mkdir mv pushd rm touch")
_PLAIN = Regex(r"[^/.=:@$]*|[a-z][a-z-]*(?::[a-z-]+)+")  # also a task such as `db:migrate`
_PARTS = Regex(r"[a-z]+")
_RUNS_TEXT = frozenset({"sh", "bash", "psql", "mysql", "mariadb", "sqlite3"})

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
    if not (is_shell or is_plain) or not text.strip() or text.lstrip().startswith(("```", "~~~")):
        return Block("sample", text, tag=tag)
    code, output = _session(lines)
    others = (line for line in (output.split("\n") if code else lines) if _is_other(line, is_weak=tag not in SHELLS))
    if next(others, None) is not None:  # a dialogue stays in its order
        opens = any(map(_opens, read_commands(code).commands))
        return Block("show", text, tag=tag, why="the prompt is of another machine, user or program", opens=opens)
    if code:
        return _command(code, output, tag)
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


def _is_other(line: str, *, is_weak: bool) -> bool:
    """Return whether a line has the prompt of another machine, user or program, or a weak one and a command."""
    if _OTHER.match(line):
        return True
    return is_weak and _WEAK.match(line) is not None and _starts_like_command(_WEAK.sub("", line, count=1))


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
    """Return the commands below prompts and the other lines, or nothing without a prompt."""
    code: list[str] = []
    output: list[str] = []
    end, goes_on = "", False
    for line in lines:
        prompt = _PROMPT.match(line)
        if end:
            code.append(line.removeprefix("> "))
            end = "" if code[-1].strip() == end else end
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
    plain = PLACEHOLDER.sub("X", code)
    commands = read_commands(plain).commands
    opens = any(map(_opens, commands))
    if _LEFT_OUT.search(_WHOLE_COMMENT.sub("", code)):
        return Block("sample", code, output, tag, opens=opens)
    if not looks_like_command(code):
        return Block("show", code, output, tag, "it doesn't look like a whole command", opens)
    harm = tuple(dict.fromkeys(_harm(code, commands)))
    why = why or why_open(code) or _why_shown(code, commands, harm)
    return Block("show" if why else "run", code, output, tag, why, opens, harm)


def _why_shown(code: str, commands: Sequence[Command], harm: Sequence[str]) -> str:
    if any(_HOST.fullmatch(word) for words in _all_words(code) for word in words[1:2]):
        return "it names another host"
    if any(map(_opens, commands)):
        return _OPENING
    if any(map(_waits, commands)):
        return "it may open an editor, or show lines until you stop it"
    return "it has several stages, and a person looks in between" if _has_stages(code, commands, harm) else ""


def programs_of(code: str) -> list[str]:
    """Return the name of each program that a block runs, without sudo and similar wrappers."""
    return [words[0].rpartition("/")[2] for words in _all_words(code)]


def _all_words(code: str) -> list[list[str]]:
    return list(filter(None, map(_words, read_commands(PLACEHOLDER.sub("=", code)).commands)))


def summary_of(code: str) -> str:
    """Return a short instruction for a block, such as `Run git fetch` or `Set NAME`."""
    prompt = _OTHER.match(code)
    code = code[prompt.end() :].partition("\n")[0] if prompt and "@" in prompt[0] else code
    found = [words for words in _all_words(code) if words[0] not in _HEADS]
    words = next((words for words in found if words[0] not in _PREPARES), found[0] if found else [])
    words = words[:1] + words[3:] if len(words) > 3 and words[1] in _TAKE else words
    names = [name for command in read_commands(code).commands for name in assigned(command.words)]
    named = list(takewhile(_PLAIN_WORD.fullmatch, words))[:3]
    plain = " ".join(named if len(named) > 1 else [*named, *filter(_FILE.fullmatch, words[1:])][:2])
    return f"Run {plain}" if plain else f"Set {' and '.join(names[:2])}" if names else "Run the commands"


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
    if name == "ssh" and (remote := _remote(rest)):
        return any(map(_opens, remote))
    if name in {"psql", "mysql", "mariadb"}:
        return before != "|" and not any(map(_GIVEN.match, rest))
    if name in _OPENS:
        return not {"-V", "--version", "ls", "-h", "--help"} & set(rest)
    if name in _OPENING_TOOLS or "manage.py" in words[:2]:
        if _OPENING_WORDS & {word for word in rest[:4] if not word.startswith("-")}:
            return True
        if {"exec", "run"} & set(rest):
            inner = _inner(rest)
            waits = "exec" in rest or any(map(_TTY.fullmatch, rest))
            return _opens_shell(inner) if inner and inner[0][:1] != "-" else waits
    return False


def _remote(rest: Sequence[str]) -> Sequence[Command]:
    """Return the commands that `ssh` runs on another machine, as far as they are more than the name of a shell."""
    found = _REMOTE.match(" ".join(rest))
    return read_commands(found["code"]).commands if found else ()


def _inner(rest: list[str]) -> list[str]:
    """Return the command that `docker exec` or `kubectl exec` runs in a container."""
    if "--" in rest:
        return _unwrapped(rest[rest.index("--") + 1 :])
    place = 1 + min(rest.index(word) for word in ("exec", "run") if word in rest)
    while place < len(rest) and rest[place].startswith("-"):
        place += 1 + (rest[place] in _TAKE)
    return _unwrapped(rest[place + 1 :])


def _waits(command: Command) -> bool:
    """Return whether a command opens an editor, or shows lines until someone stops it."""
    words = _words(command)
    is_endless = command.inside[-1:] == ("while",) and words[:1] in ([":"], ["true"])
    return is_endless or _WAITS.match(_line(words)) is not None


def _line(words: Sequence[str]) -> str:
    return "".join(f"{word.replace(' ', '_')} " for word in (words[0].rpartition("/")[2], *words[1:])) if words else ""


def is_known(code: str) -> bool:
    """Return whether rdc knows all commands of a block: they do no harm, or one that rdc asks about."""
    plain = PLACEHOLDER.sub("X", code)
    is_whole = "`" not in shell_text(plain, all_words=True)  # commands between such quotes aren't read
    return is_whole and all(_is_known(_words(one)) or _changes(one) for one in read_commands(plain).commands)


def _is_known(words: list[str]) -> bool:
    """Return whether a command is known to look at something, or to build or test what is in the folder."""
    name, rest = (words[0].rpartition("/")[2], words[1:]) if words else ("", [])
    plain = [word for word in rest if not word.startswith("-")]
    if (
        not name
        or name in _HARMLESS
        or any(map(_DRY.fullmatch, rest))
        or {"-V", "-h", "--help", "--version"} & set(rest)
    ):
        return True
    if name == "git":
        return bool(_GIT & set(plain[:2]))
    if name in {"source", "."}:
        return any(word.endswith(("activate", "env", "rc")) for word in rest)
    if name in {"psql", "mysql", "mariadb", "sqlite3"}:
        return any(map(_QUERY.match, rest)) or "-l" in rest
    if name in _OPENING_TOOLS and "exec" in plain:
        return _is_known(_inner(rest))
    if started := _RUNNER.match(" ".join(words)):
        return _is_known(words[started[0].count(" ") :])
    if (
        _LOOK_WORDS & set(plain[:4])
        or any(map(_LOOKUP.fullmatch, plain[:3]))
        or _named(name, rest) & (_LOOKS | _BUILDS)
    ):
        return True
    return name in _PROJECT_TOOLS and bool(_BUILDS & {part for word in plain[:2] for part in _PARTS.findall(word)})


def _named(name: str, rest: Sequence[str]) -> set[str]:
    """Return the words in the name of a program, and in that of the script or module that it starts."""
    started = (word for word in rest if word not in _LAUNCHERS | {"run"} and not word.startswith("-"))
    script = next(started, name).rpartition("/")[2].partition(".")[0] if name in _LAUNCHERS else name
    return {*_PARTS.findall(name), *_PARTS.findall(script)}


def _harm(code: str, commands: Sequence[Command]) -> Iterator[str]:
    lines = code.split("\n")
    shown = PLACEHOLDER.sub("X", code)
    yield from (lines[shown.count("\n", 0, one.start)].strip() for one in commands if _changes(one))
    if _SQL.search(code) and not any(_SQL.search(" ".join(_words(one))) for one in commands):
        yield from (line.strip() for line in lines if _SQL.search(line))
    plain = shell_text(shown, all_words=True)
    yield from (lines[plain.count("\n", 0, found.start())].strip() for found in _WRITES.finditer(plain))


def _changes(command: Command) -> bool:
    words = _words(command)
    name = words[0].rpartition("/")[2] if words else ""
    runs_text = name in _RUNS_TEXT and (command.before == "|" or bool({"<", "-f"} & set(words)))
    if runs_text or _SQL.search(" ".join(words)) or (name == "ssh" and not all(map(_looks, _remote(words[1:])))):
        return True
    return name not in _READS and _does_harm(name, words[1:])


def _looks(command: Command) -> bool:
    """Return whether a command only shows something."""
    words = _words(command)
    is_look = bool(words) and (words[0] in _READS or bool(_LOOK_WORDS & set(words[1:5])) or "--list" in words)
    return is_look and ">" not in words and not _changes(command)


def _has_stages(code: str, commands: Sequence[Command], harm: Sequence[str]) -> bool:
    """Return whether a person decides inside a block: it looks, then changes something, or has two harmful parts."""
    parts = (part for part in code.split("\n\n") if part.lstrip()[:1] == "#")
    if sum(any(line in part for line in harm) for part in parts) > 1:
        return True
    looked = looks = False
    for command in commands:
        if not command.before.startswith("|"):
            looked, looks = looked or looks, False
        changes = _changes(command)
        if looked and changes and not command.inside:
            return True
        is_shown = not command.inside and command.after not in {"&&", "||"} and command.name not in _QUIET
        looks = not changes and (looks or (is_shown and _looks(command)))
    return False


def _does_harm(name: str, rest: Sequence[str]) -> bool:
    plain = [word for word in rest if not word.startswith("-") and (" " in word or _PLAIN.fullmatch(word))][:5]
    if any(map(_DRY.fullmatch, rest)):
        return False
    line = _line([name, *rest])
    named = _named(name, rest)
    if _CHANGES.match(line) or (_HARM & named and not named & _LOOKS):
        return True
    for word in plain:
        parts = [] if word in {"release", "rollout"} and _SHOWS & set(plain) else _PARTS.findall(word)
        if _HARM & set(parts if len(parts) < 3 or " " in word else parts[:1]):
            return True
        if word in _SHOWS and name not in _FILES:
            return False
    return any(map(_HARM_FLAG.fullmatch, rest))
