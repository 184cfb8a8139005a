"""What a command does: whether it opens a shell, waits, is known, or deletes or changes something."""

import re
from collections.abc import Iterator, Sequence

from compiler.frontends.rundown.check.blocks import PLACEHOLDER, shell_text
from compiler.frontends.rundown.check.shell import Command, read_commands
from compiler.text.regex import Regex


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


_WRAPPERS = frozenset({"sudo", "env", "time", "nohup", "doas", "watch", "xargs", "exec", "command", "nice"})
_OPENS = word_set("""bpython chroot cqlsh ftp ghci iex ipython irb mariadb mongo mongosh mosh mysql nsenter pry psql
rlogin screen sftp sqlplus ssh su telnet tmux""")
_OPENS_BARE = word_set("bash sh zsh fish ksh dash python python3 node ruby redis-cli sqlite3 php lua R")
_GIVEN = Regex(r"-[cefl]|--(?:command|eval|execute|file)\b|<")
_REMOTE = Regex(r"(?>(?:-[BbcDEeFIiJLlmOopQRSWw] ?\S+ |-\S+ )*)(?!-)\S+ (?P<code>\S+\s.+)", re.DOTALL)
_OPENING_WORDS = word_set("rsh ssh attach console shell dbshell dbconsole start-session debug")
_OPENING_TOOLS = word_set("""oc kubectl docker docker-compose podman vagrant gcloud az aws heroku fly flyctl rails
minikube virsh""")
VALUED = word_set("-u -e -w -v -p -c -n --user --env --name --namespace --container")
_TTY = Regex(r"-(?:it|ti|i|t)[a-z]?|--(?:tty|interactive|stdin)")
_LAUNCHERS = word_set("bundle bunx hatch node npx php pipenv pnpm poetry python python3 ruby sh bash uv uvx yarn")
_WAITS = Regex(
    r"git (?:rebase -i |commit (?!(?:.* )?(?:-[a-z]*[mFC]|--(?:file|fixup|message|no-edit)\b)))"
    r"|(?:docker[ -])?compose (?:\S+ ){0,2}up (?!(?:.* )?--?d(?:etach)? )"
    r"|(?:(?:tail|journalctl) |.* (?:logs|get|events) )(?:.* )?(?:-\d*[fFw]|-Lf|-fn?\d+|-nf"
    r"|--(?:follow|watch)(?:=(?!false)\S+)?) |heroku logs (?:.* )?(?:-t|--tail) |pm2 logs (?!(?:.* )?--nostream )"
    r"|(?:docker|podman) (?:events |stats (?!(?:.* )?--no-stream ))|ping (?!(?:.* )?-c)|tsc (?:.* )?-w "
    r"|(?:fly|flyctl|railway) logs (?!(?:.* )?(?:-n|--no-tail|--lines) )|(?:\S+ )+logs? tail |sleep [a-z]"
    r"|(?:.*[ :])?(?:serve|watch|live|--watch(?:-only|All)?|--continuous|--ui|--web) "
)
_HARMLESS = word_set(""": [ [[ awk base64 basename break case cat cd column comm continue cp curl cut date declare df
diff dig dirname du echo egrep exit export false fgrep file find for free grep gunzip gzip head history host hostname id
jest jq local ls lsb_release lsblk lsof md5sum mkdir mktemp mypy netstat nproc nslookup openssl pg_dump pg_isready
pgrep ping printf ps pwd pytest read readlink readonly realpath return rg ruff sed select seq set sha256sum shift
sleep sort ss ssh stat sync tail tar test touch tox tr true tsc type uname uniq unset unzip uptime vitest wait wc wget
which while whoami yq zip""")
"""Programs that only look, compute or write a new file, unless an option or an output changes something."""
_TOOLS = word_set(
    "bun bundle cargo composer docker dotnet go npm pip pip3 pipenv pnpm poetry python python3 terraform uv yarn"
)
_TASK_TOOLS = word_set("deno flutter gradle gradlew just make mvn mvnw rake")
_BUILDS = word_set("""build check ci clippy compile coverage doctor fmt format install lint package pytest pull sync
template test tests typecheck types validate venv verify vet""")
_TASKS = _BUILDS - word_set("install package pull sync template")
_ACTS = word_set("""add and annotate attach change changepassword commit create edit enable fix generate import insert
install email mail modify move notify put register rename seed send serve set start tag update wall write""")
_GIT = word_set("""add blame branch cat-file checkout clone commit describe diff fetch grep init log ls-files ls-remote
merge-base pull remote rev-list rev-parse shortlog show status switch tag""")
_QUERY = Regex(
    r"(?is)(?:--\w+=|-[ce])?\W*(?:(?:select|show|explain|describe)\b(?!.*(?:\binto\b|;\W*(?!select|show|explain)\w"
    r"|\w\.\w+\(|\b(?:setval|nextval|dblink|lo_|pg_(?!\w*(?:size|diff|time)|is_|last|current|get|block)\w+\()))|\\[dl])"
)
_UNSURE = Regex(
    r"git (?:(?:add|checkout|commit) (?:.* )?(?:-[ip]|--patch) |remote (?:add|rename|set))|hostname \w"
    r"|date (?:-s|--set|\d)|(?:cargo|go) (?:install|get) |openssl (?:ca|s_server) |ss -K"
    r"|(?:bun|npm|pip3?|pnpm|poetry|uv|yarn) (?:version \S|(?:.* )?(?:-g|-U|--global|--upgrade|--system|--user) )"
)
_RUNNER = Regex(r"(?:uv|poetry|pipenv|hatch) run |python3? -m |bundle exec |(?:npx|bunx|uvx) (?:-y )?|pnpm exec ")
_LOOKUP = Regex(r"(?:describe|filter|get|head|list|lookup|validate)-(?!credentials|.*and-)[a-z-]+")  # as `aws` has them
_HARM = word_set("""apply autoremove bump cherrypick clean cleanup comment cordon dd decommission defrag del delete
demote deploy deprovision deregister destroy detach disable down drain drop erase evict failover fdisk flush flushall
flushdb groupdel halt iptables kill killall mask merge migrate mkfs mongorestore overwrite parted passwd patch pkill
poweroff promote prune publish purge push quarantine rebase reboot recreate release reload remove renew replace rerun
reset restart restore revoke rm rmdir rollback rollout rotate scale shred shutdown stop switchover terminate truncate
undo uninstall unlink unregister upgrade upload userdel usermod wipe wipefs""")
_HARM_FLAG = Regex(
    r"--(?:apply|delete|fix|force|overwrite|prune|purge|push|hard|regenerate|remove|repair|restart|rotate|send|stop"
    r"|write(?!-out))(?:-.*)?|-delete|mkfs.*|(?:--request=)?(?:DELETE|POST|PUT|PATCH)|--upload-file"
)
_OVERWRITES = Regex(
    r"(?:.* )?(?:curl (?:(?!(?:.* )?(?:-\w*G|--get) )(?:.* )?(?:-[fgikLNsSv]*(?:[dFT]|X[DP])|--(?:data|form|json))"
    r"|(?:.* )?(?:-\w*o|--output[= ]) ?(?!/dev/|/tmp/|-)\S)|openssl (?:.* )?-(?:out|keyout) (?!/tmp/|/dev/)"
    r"|wget (?:.* )?(?:--(?:post|body|method)|-P ?[/~]|-\w*O ?(?!-|/dev/|/tmp/)\S)|sort (?:.* )?(?:-\w*o|--output)"
    r"|tar (?=(?:.* )?-{0,2}\w*x)(?:.* )?(?:-C ?|--directory[= ])(?!/tmp/)[/~]"
    r"|unzip (?:.* )?(?:-\w*o|-d ?(?!/tmp/)[/~])|zip -\w*[md] "
    r"|find (?:.* )?-(?:fprint|(?:exec|ok)(?:dir)? (?!(?:cat|du|echo|file|grep|head|ls|md5sum|stat|wc) ))"
    r"|g?awk (?:.* )?(?:-i inplace|\S*(?:system\(|print(?>(?:\"[^\"]*\"|[^}\">])*)>|\|_*\"(?!sort|uniq)))"
    r"|sed (?:.* )?(?:\S*[/;\d$gp])?w_|(?:g?sed|yq) (?:.* )?(?:-[a-zA-Z]*i|--in-?place))"
)
_CHANGES = Regex(
    r"(?!(?:.* )?(?:cat|grep|head|ls|source|tail) )(?:.* )/etc/|systemctl (?:\S+ )?(?:enable|start) "
    r"|git (?:-C \S+ )?(?:branch|checkout|switch|tag) (?:.* )?(?:-[BCdDfmM] |--(?:discard|move|orphan|ours|theirs))"
    r"|(?:docker[ -])?compose (?:\S+ ){0,4}up |git checkout (?:(?:.* )?(?:--|\.) |\S+\.[a-z]{2,4} |[^-]\S* [^-])"
    r"|cp (?!(?:.* )?(?:\.|(?:\./|/tmp/|[^/~.])\S*/|[^/~.]/|\S*(?:[.-](?:bak|backup|old|orig)|~|\))) $)"
)
_SHOWS = word_set("describe diff explain get help history info inspect list logs ls search show status view")
_LOOKS = word_set("audit check preflight status test verify")  # at an end of the name of a script
_DRY = Regex(r"--dry-?run(?:=(?!none|false).*)?")
_WRITES = Regex(
    r"(?:(?<![<>&\d=-])1?>\|?|&>|>&(?![\d-]))(?![>&(])[ \t]*(?!/dev/[^s]|/dev/std|/tmp/)\S"
    r"|>>[ \t]*(?:[~/]|\$\{?HOME)(?!dev/|tmp/)"
)
_SQL = Regex(r"(?i)\b(?:drop\s+\w+|truncate|vacuum|delete\s+from|alter\s+\w+|update\s+[\w.]+\s+set|insert\s+into)\b")
_READS = word_set("""[ [[ awk cat cd date df diff dig du echo egrep fgrep grep head jq ls lsb_release lsof nslookup ping
printf ps rg sort tail test tree true type uniq wc which""")
_FILES = word_set("cd chmod chown cp make mkdir mv pushd rm touch")
_QUIET = word_set("[ [[ cd date echo printf test true type which")
_LOOK_WORDS = _SHOWS | word_set("--dry-run health images is-active lint log ping plan ps template top version")
_PLAIN = Regex(r"[^/.=:@$]*|[a-z][a-z-]*(?::[a-z-]+)+")  # also a task such as `db:migrate`
_PARTS = Regex(r"[a-z]+")
_RUNS_TEXT = frozenset({"sh", "bash", "psql", "mysql", "mariadb", "sqlite3"})


def all_words(code: str) -> list[list[str]]:
    """Return the words of each command, without sudo and similar wrappers."""
    return list(filter(None, map(_words, read_commands(PLACEHOLDER.sub("=", code)).commands)))


def _words(command: Command) -> list[str]:
    return _unwrapped([word.strip("'\"") for word in command.words])


def _unwrapped(words: list[str]) -> list[str]:
    options = {"sudo": {"-u", "-g", "--user", "--group"}, "xargs": {"-n", "-I", "-L", "-P", "-d"}}
    while words and ("=" in words[0] or words[0] in _WRAPPERS - {"watch"}):
        valued = options.get(words.pop(0))
        while valued is not None and words and words[0].startswith("-") and words[0] not in {"-i", "-s"}:
            words = words[1 + (words[0] in valued) :]
    return words


def opens_shell(command: Command) -> bool:
    """Return whether a command opens a shell on another machine or in another program."""
    return _is_shell(_words(command), command.before)


def _is_shell(words: list[str], before: str = "") -> bool:
    name, rest = (words[0].rpartition("/")[2], words[1:]) if words else ("", [])
    if name in {"-i", "-s"} or (name in _OPENS_BARE and not rest and not before.startswith("|")):
        return True
    if name == "ssh" and (remote := _remote(rest)):
        return any(map(opens_shell, remote))
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
            return _is_shell(inner) if inner and inner[0][:1] != "-" else waits
    return False


def _remote(rest: Sequence[str]) -> Sequence[Command]:
    found = _REMOTE.match(" ".join(rest))
    return read_commands(found["code"]).commands if found else ()


def _inner(rest: list[str]) -> list[str]:
    if "--" in rest:
        return _unwrapped(rest[rest.index("--") + 1 :])
    place = 1 + min(rest.index(word) for word in ("exec", "run") if word in rest)
    while place < len(rest) and rest[place].startswith("-"):
        place += 1 + (rest[place] in VALUED)
    return _unwrapped(rest[place + 1 :])


def waits(command: Command) -> bool:
    """Return whether a command may open an editor, or show lines until a person stops it."""
    words = _words(command)
    is_loop = command.inside[-1:] == ("while",)
    is_endless = is_loop and (words[:1] in ([":"], ["false"], ["sleep"], ["true"]) or words[1:2] == ["1"])
    is_remote = words[:1] == ["ssh"] and any(map(waits, _remote(words[1:])))
    return is_endless or is_remote or _WAITS.match(_line(words)) is not None


def _line(words: Sequence[str]) -> str:
    return "".join(f"{word.replace(' ', '_')} " for word in (words[0].rpartition("/")[2], *words[1:])) if words else ""


def is_known(code: str) -> bool:
    """Return whether rdc knows all commands of a block: they do no harm, or one that rdc asks about."""
    plain = PLACEHOLDER.sub("X", code)
    text = shell_text(plain)
    if "`" in text or ("<<" in text and "$(" in text):  # commands there aren't read
        return False
    unsure = (one for one in read_commands(plain).commands if not _changes(one))
    return all(not {"sudo", "install"} <= {*one.words} and _is_known(_words(one)) for one in unsure)


def _is_known(words: list[str]) -> bool:
    name, rest = (words[0].rpartition("/")[2], words[1:]) if words else ("", [])
    plain = [word for word in rest if not word.startswith("-")]
    if any(map(_DRY.fullmatch, rest)) or {"-V", "-h", "--help", "--version"} & set(rest[-1:]):
        return True
    if _UNSURE.match(line := _line(words)) or _WAITS.match(line):
        return False
    if not name or name in _HARMLESS:
        return True
    if name == "git":
        place = rest[0] in {"-C", "-c"} if rest else 0
        return bool(_GIT & set(plain[place : place + 1]) or _SHOWS & set(plain[place + 1 : place + 2]))
    if name in {"source", "."}:
        return any(word.endswith(("activate", "env", "rc")) for word in rest)
    if name in {"psql", "mysql", "mariadb", "sqlite3"}:
        queries = [word for word in rest if _QUERY.match(word) or " " in word]
        return all(map(_QUERY.match, queries)) if queries else rest[-1:] == ["-l"]
    if name in _OPENING_TOOLS and "exec" in plain:
        return _is_known(_inner(rest))
    if started := _RUNNER.match(" ".join(words)):
        return _is_known(words[started[0].count(" ") :])
    plain = [name, *plain[name == "aws" :][:4]]  # `aws logs` is a service
    looks = {word for word in plain[1:] if word in _LOOK_WORDS or _LOOKUP.fullmatch(word)}
    verb = next((word for word in plain if word in looks or _ACTS.intersection(_PARTS.findall(word)[:1])), "")
    return verb in looks or _builds(name, rest) or _is_task(_named(name, rest))


def _builds(name: str, rest: Sequence[str]) -> bool:
    valued = {"-C", "-f", "-pl", "--filter", "--prefix", "--tests"}
    words = [word for before, word in zip(["", *rest], rest, strict=False) if before not in valued and "=" not in word]
    tasks = [word for word in words if word[:1] != "-" and word not in {"compose", "mod", "task"}]
    if name in _TASK_TOOLS:
        return tasks != [] and all((name[:3] == "mvn" and one in _BUILDS) or _is_task(one) for one in tasks)
    runs = tasks[:1] in (["run"], ["manage.py"])
    if name not in _TOOLS or (runs and name not in {"bun", "composer", "npm", "pnpm", "python", "python3", "yarn"}):
        return False
    task = next(iter(tasks[runs:]), "")
    return _ACTS.isdisjoint(tasks[1:]) and ((task in _BUILDS and not runs) or (name[:6] != "docker" and _is_task(task)))


def _is_task(name: str) -> bool:
    """Return whether the name of a task or script is that of a look, a build or a test, and of nothing else."""
    parts = _PARTS.findall(name)
    is_look = bool(_LOOKS.intersection(parts[:1] + parts[-1:]) - {"test"})
    is_build = bool(_TASKS.intersection(parts)) and _HARM.isdisjoint(parts)
    return (is_look or is_build) and {*_ACTS, "server"}.isdisjoint(parts)


def _named(name: str, rest: Sequence[str]) -> str:
    started = (word for word in rest if word not in _LAUNCHERS | {"run"} and not word.startswith("-"))
    return next(started, name).rpartition("/")[2].partition(".")[0] if name in _LAUNCHERS else name


def harm_of(code: str, commands: Sequence[Command]) -> Iterator[str]:
    """Yield the lines of a block that delete or change something."""
    lines = code.split("\n")
    shown = PLACEHOLDER.sub("X", code)
    yield from (lines[shown.count("\n", 0, one.start)].strip() for one in commands if _changes(one))
    if _SQL.search(code) and not any(_SQL.search(" ".join(_words(one))) for one in commands):
        yield from (line.strip() for line in lines if _SQL.search(line))
    plain = shell_text(shown, all_words=True)
    yield from (lines[plain.count("\n", 0, found.start())].strip() for found in _WRITES.finditer(plain))


def _changes(command: Command) -> bool:
    words = _words(command)
    line = _line(words)
    name = line.partition(" ")[0]
    runs_text = name in _RUNS_TEXT and (command.before == "|" or bool({"<", "-f"} & set(words)))
    is_remote = name == "ssh" and not all(map(_looks, _remote(words[1:])))
    if runs_text or is_remote or len(line) > 9_999 or _OVERWRITES.match(line) or _SQL.search(" ".join(words)):
        return True
    return name not in _READS and _does_harm(name, words[1:])


def _looks(command: Command) -> bool:
    words = _words(command)
    is_look = bool(words) and (words[0] in _READS or bool(_LOOK_WORDS & set(words[1:5])) or "--list" in words)
    return is_look and ">" not in words and not _changes(command)


def has_stages(code: str, commands: Sequence[Command], harm: Sequence[str]) -> bool:
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
    named = _PARTS.findall(_named(name, rest))
    is_look = not _LOOKS.isdisjoint({*named[:1], *named[-1:]})
    if _CHANGES.match(_line([name, *rest])) or (_HARM.intersection(named) and not is_look):
        return True
    for word in plain:
        parts = [] if word in {"release", "rollout"} and _SHOWS & set(plain) else _PARTS.findall(word)
        if _HARM & set(parts if len(parts) < 3 or " " in word else parts[:1]):
            return True
        if word in _SHOWS and name not in _FILES:
            return False
    return any(map(_HARM_FLAG.fullmatch, rest))
