"""Errors of databases: words with a remedy, without SQL, traces, or the password of an address."""

import os
import re
import socket
import sqlite3
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock
from urllib.parse import parse_qs, urlsplit

import pytest

from benchmarks.workers.fleet import CommandResult, Fleet
from runtime_shim.engine.program import UsageError
from runtime_shim.targets.dbos.command_line import DbosCaller
from runtime_shim.targets.dbos.leases import Leases
from runtime_shim.targets.dbos.legs import Legs, network_of, worded_error

pytestmark = pytest.mark.tool

PASSWORD = "s3cretpass"
TECHNICAL = re.compile(r"Traceback|SELECT|INSERT|sqlalche|psycopg\.|sqlite3\.|File \"|\wError\b|errno")
COMMANDS = (["list"], ["status", "r1"], ["start", "--id", "r1"], ["answer", "r1", "2", "yes"], ["cancel", "r1"],
            ["prune", "--older-than", "1d"])  # fmt: skip


def refused(fleet: Fleet, url: str, expected: str, with_worker: bool = True) -> None:
    """All commands and a worker say what is wrong with a database."""
    for command in COMMANDS:
        in_words(fleet.call(*command, RDC_DATABASE=url), expected, command)
    in_words(fleet.call("list", "--database", url), expected, ["list"])
    if with_worker:
        refused_worker(fleet, url, expected)


def refused_worker(fleet: Fleet, url: str, expected: str) -> None:
    worker = fleet.worker(ready=False, RDC_DATABASE=url)
    in_words(CommandResult(worker.process.wait(30), "", worker.text), expected, ["worker"])


def in_words(reply: CommandResult, expected: str, command: list[str]) -> None:
    assert (reply.code, expected in reply.err) == (2, True), (command, reply)
    assert PASSWORD not in reply.text
    assert not TECHNICAL.search(reply.text), (command, reply)
    assert reply.err.startswith("rdc: error: "), (command, reply)


def test_a_mistyped_subcommand(words: Fleet) -> None:
    for word, expected in (("anwser", "; did you mean answer? (see: "), ("zzz", "; choose from worker, ")):
        assert f"unknown subcommand {word}{expected}" in words.call(word).err


def test_an_unknown_address(words: Fleet) -> None:
    for url in ("nonsense", "sqlite://", f"postgresql://a:{PASSWORD}@b"):
        with pytest.raises(UsageError, match="unknown database; use sqlite:///FILE or postgresql://"):
            Legs(url, "")
    url = f"mysql://a:{PASSWORD}@b/c"
    refused(words, url, "unknown database; use sqlite:///FILE or postgresql://", with_worker=False)


def test_a_sqlite_that_is_too_old_for_dbos_on_this_python() -> None:
    error = sqlite3.IntegrityError("NOT NULL constraint failed: application_versions.version_timestamp")
    assert "DBOS needs SQLite 3.42 on Python 3.12 and newer; use Python 3.11" in worded_error(error, "runs.sqlite")


BETWEEN = ("/", "?", "#", "/?", "/#", "/x?y=", "@/", ":/", "[", "/[", "%zz/", " /", "//")


def hides_the_password(message: str, start: str) -> bool:
    return PASSWORD not in message and not re.search(rf"ann|:{start or 42}\b", message)


@pytest.mark.parametrize("start", ["42", "a", ""])
def test_no_part_of_a_password_is_in_an_error(start: str, words: Fleet) -> None:
    url = f"postgresql://ann:{start}BETWEEN{PASSWORD}+x@127.0.0.1:1/runs"
    for between in BETWEEN:
        with pytest.raises(UsageError) as caught:
            Legs(url.replace("BETWEEN", between), "").rows("SELECT 1")
        assert hides_the_password(str(caught.value), start), caught.value
    shown = words.call("list", RDC_DATABASE=url.replace("BETWEEN", {"42": "/", "a": "@/"}.get(start, "%zz/")))
    assert (shown.code, "Traceback" in shown.text, hides_the_password(shown.text, start)) == (2, False, True), shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///a b.sqlite", " --database 'sqlite:///a b.sqlite'"),
        ("", ""),
        *((f"postgresql://{rest}", "") for rest in (f"ann:{PASSWORD}@b/c", f"b/c?password={PASSWORD}", "b/c")),
        (f"postgres:///c?user=ann&password={PASSWORD}", ""),
    ],
)
def test_commands_in_hints_have_only_the_address_of_a_file(url: str, shown: str) -> None:
    session: Any = SimpleNamespace(options=SimpleNamespace(prog="job.py", RUN="r1", database=url))
    found = {words: DbosCaller(session).call(words) for words in (("answer", "2", "yes"), ("status", "r1"))}
    assert [*found.values()] == [f"job.py answer r1 2 yes{shown}", f"job.py status r1{shown}"]


@pytest.mark.parametrize("with_worker", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_files_that_are_no_database(words: Fleet, tmp_path: Path, with_worker: bool) -> None:
    (tmp_path / "text").write_text("This is no database, although it has some length. " * 50)
    refused(words, f"sqlite:///{tmp_path}/text", "this is not a SQLite database; name another file", with_worker)


def test_a_database_behind_a_link_or_of_another_user(words: Fleet, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "a.sqlite").symlink_to("outside/a.sqlite")
    (tmp_path / "folder").symlink_to("outside")
    (tmp_path / "b.sqlite").touch()
    (tmp_path / "b.sqlite-wal").symlink_to("outside/b.sqlite-wal")
    for url, link in (
        (f"sqlite:///{tmp_path}/a.sqlite", "a.sqlite"),
        ("sqlite:///folder/a.sqlite", "folder"),
        (f"sqlite:///{tmp_path}/b.sqlite", "b.sqlite-wal"),
    ):
        reply = words.call("start", RDC_DATABASE=url)
        in_words(reply, f"{link} is a link: remove it, or name its target in the database's address", ["start"])
    assert list((tmp_path / "outside").iterdir()) == []
    if os.geteuid() == 0:
        os.chown(tmp_path / "b.sqlite", 65534, 65534)
        (tmp_path / "b.sqlite-wal").unlink()
        reply = words.call("start", RDC_DATABASE=f"sqlite:///{tmp_path}/b.sqlite")
        in_words(reply, "b.sqlite belongs to another user", ["start"])


@pytest.mark.parametrize("with_worker", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_folder_that_does_not_exist(words: Fleet, tmp_path: Path, with_worker: bool) -> None:
    url, expected = f"sqlite:///{tmp_path}/missing/a.sqlite", "the file cannot be opened; check its folder"
    in_words(words.call("start", "--id", "r1", RDC_DATABASE=url), expected, ["start"])
    reply = words.call("list", RDC_DATABASE=url)
    assert (reply.code, bool(TECHNICAL.search(reply.text))) == (2, False)
    if with_worker:
        refused_worker(words, url, expected)


def test_a_server_that_is_not_there(words: Fleet) -> None:
    with socket.socket() as taken:  # bound, but no one listens
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        url = f"postgresql://ann:{PASSWORD}@127.0.0.1:{port}/runs"
        in_words(words.call("list", RDC_DATABASE=url), "nothing answers there; check the address", ["list"])
        in_words(words.call("start", RDC_DATABASE=url), f"the database postgresql://127.0.0.1:{port}/runs", ["start"])
    url = f"postgresql://ann:{PASSWORD}@no-such-host.invalid/runs"
    in_words(words.call("list", RDC_DATABASE=url), "the name of the host is unknown; check the address", ["list"])


@pytest.mark.soak
def test_a_server_that_refuses(words: Fleet, postgres: str) -> None:
    import psycopg  # noqa: PLC0415

    with psycopg.connect(postgres, autocommit=True) as connection:
        (path,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        connection.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'".encode())
        rules = Path(path)
        rules.write_text(f"local all guarded scram-sha-256\n{rules.read_text()}")
        connection.execute("SELECT pg_reload_conf()")
        where = parse_qs(urlsplit(postgres).query)["host"][0]
        refused(words, f"postgresql://guarded:{PASSWORD}x@/postgres?host={where}", "refuses the user or the password")
        url = f"postgresql://guarded:{PASSWORD}@/no_such_database?host={where}"
        refused(words, url, "there is no such database; create it with createdb")
        connection.execute("CREATE DATABASE closed")
        connection.execute("REVOKE ALL ON DATABASE closed FROM PUBLIC")
        connection.execute("GRANT CONNECT ON DATABASE closed TO guarded")
        url = f"postgresql://guarded:{PASSWORD}@/closed?host={where}"
        in_words(words.call("start", RDC_DATABASE=url), "grant all rights on the schema dbos", ["start"])
        refused_worker(words, url, "grant all rights on the schema dbos")
        assert PASSWORD not in (words.folder / "worker-1.log").read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write to every file")
def test_a_file_that_cannot_be_written(words: Fleet, tmp_path: Path) -> None:
    assert words.call("start", "--id", "r1").code == 0
    for path in tmp_path.glob("none.sqlite*"):
        path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        in_words(words.call("start", "--id", "r2"), "read-only", ["start"])
    finally:
        tmp_path.chmod(0o755)


def test_no_worker_has_used_a_database(words: Fleet) -> None:
    for command in (["status", "r1"], ["cancel", "r1"], ["answer", "r1", "2", "yes"]):
        in_words(words.call(*command), "there is no run r1", command)
    assert words.call("list").out == "There are no runs.\n"
    assert words.call("prune", "--older-than", "1d").out == "Deleted 0 runs.\n"
    assert not list(words.folder.glob("*.sqlite"))


def test_network_disks_are_known(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda / ext4 rw 0 0\nserver:/a /mnt/a\\040b nfs4 rw 0 0\n/dev/sdb /mnt/a\\040b/local xfs rw 0 0\n"
        "//server/c /mnt/c cifs rw 0 0\nhost:/d /mnt/d fuse.sshfs rw 0 0\ntmpfs /mnt/cc tmpfs rw 0 0\n"
        "/dev/sdc /mnt ext4 rw 0 0\n"
    )
    found = {
        path: network_of(path, str(mounts))
        for path in ("/a.sqlite", "/mnt/a b/c.sqlite", "/mnt/a b/local/c", "/mnt/c/d/e", "/mnt/d/e", "/mnt/cc/a")
    }
    assert found == {
        "/a.sqlite": "", "/mnt/a b/c.sqlite": "nfs4", "/mnt/a b/local/c": "", "/mnt/c/d/e": "cifs",
        "/mnt/d/e": "fuse.sshfs", "/mnt/cc/a": "",
    }  # fmt: skip
    assert network_of("/a.sqlite", str(tmp_path / "none")) == ""


def test_a_pool_of_connections_is_refused() -> None:
    """It gives each client a key of its own, and not that of the server's process."""
    connection: Any = MagicMock()
    connection.info.backend_pid, connection.execute.return_value.fetchone.return_value = 4242, (1,)
    database: Any = SimpleNamespace(is_sqlite=False, connect=lambda: connection, worded=nullcontext, shown="the pool")
    with pytest.raises(
        UsageError, match=r"the pool is a connection pool such as PgBouncer: .*; use the address of the"
    ):
        Leases(database).take("worker", "1")
    connection.close.assert_called_once()
