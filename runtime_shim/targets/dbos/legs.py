"""The legs of a program's runs, as rows in the tables of DBOS 3.4, in the database that all its workers share.

DBOS writes these rows for workers. Operators' commands read and write them here, since loading DBOS takes a second.
The columns are those of `dbos._schemas.system_database`. The database is SQLite or PostgreSQL.
"""

import json
import os
import re
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from runtime_shim.engine.journal import Record
from runtime_shim.engine.private import is_trusted, refuse_links
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.texts import one_line

ACTIVE = ("ENQUEUED", "PENDING", "DELAYED")
LEG = "leg"  # the name of the workflow
RUN_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"  # runs and workers have files: no other name from a database is used
WORKER_NAME = "[A-Za-z0-9.-]+:[0-9]+:[0-9a-f]{8}"
AT_ONCE = 64  # legs of one query
NO_RESULT: Table = {}
LAST = "NOT EXISTS (SELECT 1 FROM workflow_status n WHERE n.parent_workflow_id = s.workflow_uuid)"
BEFORE, AFTER = 1, 10  # priorities: later legs, and new runs
COLUMNS = ("status", "executor_id", "application_version", "created_at", "updated_at", "delay_until_epoch_ms")
ON_NETWORKS = ("nfs", "cifs", "smb", "fuse.sshfs", "ceph", "glusterfs", "afs", "lustre", "9p")  # start of a type
DRIVERS = ("sqlite3", "psycopg", "sqlalchemy", "dbos")


class Database:
    """A connection to SQLite or PostgreSQL, made at first use. Threads take turns."""

    def __init__(self, url: str, application: str) -> None:
        self.application = application
        self._lock = threading.RLock()
        self._connection: Any = None
        self.is_sqlite, self.path = url.startswith("sqlite:///") and len(url) > len("sqlite:///"), ""
        if self.is_sqlite:
            self.shown = url.removeprefix("sqlite:///")
            self.path = os.path.abspath(self.shown)
            self.url = f"sqlite:///{self.path}"
        else:
            self.url, self.shown = url.replace("postgres://", "postgresql://", 1), shown_address(url)

    # --- The connection ---

    def connect(self) -> Any:  # a connection of sqlite3 or psycopg
        """Return a new connection that commits each statement."""
        with self.worded():
            if self.is_sqlite:
                import sqlite3

                if found := network_of(self.path):
                    why = f"is on a network disk ({found}), where locks can fail; use PostgreSQL"
                    raise UsageError(f"{self.shown} {why}")
                self.check_file()
                return sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            import psycopg

            connection = psycopg.connect(
                self.url,
                autocommit=True,
                connect_timeout=5,
                keepalives_idle=3,
                keepalives_interval=1,
                keepalives_count=3,
                tcp_user_timeout=5000,  # for data without an answer, which keepalives ignore
            )
            connection.execute("SET search_path = dbos, public")
            return connection

    def check_file(self) -> None:
        """Refuse a file that a link redirects, or that another user owns."""
        for ending in ("", "-journal", "-shm", "-wal"):
            refuse_links(self.shown + ending, "name its target in the database's address")
        if os.path.exists(self.path) and not is_trusted(os.stat(self.path)):
            raise UsageError(f"{self.shown} belongs to another user, who can change the runs; name another file")

    def close(self) -> None:
        """Close the connection, if any; the next call makes another."""
        with self._lock, suppress(Exception):
            connection, self._connection = self._connection, None
            connection.close()

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """Give a cursor whose changes are committed together."""
        with self._lock, self.worded():
            if self._connection is None:
                self._connection = self.connect()
            cursor = self._connection.cursor()
            try:
                cursor.execute("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                with suppress(Exception):
                    cursor.execute("ROLLBACK")
                if not self.is_sqlite and getattr(self._connection, "broken", False):
                    self.close()
                raise

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query with `?` for each value."""
        with self._lock, self.worded():
            if self._connection is None:
                self._connection = self.connect()
            try:
                return list(self._connection.execute(self.dialect(query), values).fetchall())
            except Exception:
                self.close()
                raise

    def dialect(self, query: str) -> str:
        """Return a query with the database's marks for values."""
        return query if self.is_sqlite else query.replace("?", "%s")

    @contextmanager
    def worded(self) -> Iterator[None]:
        """Raise errors of the database as refusals, in words, without its address."""
        try:
            yield
        except Exception as error:
            if type(error).__module__.partition(".")[0] in DRIVERS:
                raise UsageError(self.words(error)) from None
            raise

    def words(self, error: Exception) -> str:
        """Return an error in words, with a remedy."""
        if type(error).__module__.partition(".")[0] in DRIVERS:
            return worded_error(error, self.shown)
        return str(error.args[-1] if error.args else type(error).__name__)

    def is_ready(self) -> bool:
        """Return whether a worker has made the tables."""
        if self.is_sqlite:
            if not os.path.exists(self.path) and os.path.isdir(os.path.dirname(self.path)):
                return False
            return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = 'operation_outputs'"))
        return bool(self.rows("SELECT 1 FROM pg_tables WHERE schemaname = 'dbos' AND tablename = 'operation_outputs'"))


def shown_address(url: str) -> str:
    """Return the address of a PostgreSQL database without user, password and options. Never show a wrong one."""
    try:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname or dict(urllib.parse.parse_qsl(parts.query)).get("host") or "localhost"
        port = f":{parts.port}" if parts.port else ""
        if "@" in f"{parts.path}{parts.query}{parts.fragment}":  # the rest of a password, whose / was not escaped
            raise UsageError("the database's address has an @ after its host; in the password, write / as %2F")
    except ValueError:  # the port is not a number
        parts, host, port = urllib.parse.urlsplit(""), "", ""
    if parts.scheme not in ("postgresql", "postgres") or not parts.path.strip("/"):
        raise UsageError("unknown database; use sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME")
    return one_line(f"postgresql://{host}{port}{parts.path}")


def worded_error(error: Exception, shown: str) -> str:
    """Return an error of the database in words, with a remedy."""
    error = getattr(error, "orig", None) or error
    code, text = getattr(error, "sqlstate", None) or "", str(error).lower()
    known = (
        (("28P01", "28000"), "password", "it refuses the user or the password; correct the address"),
        (("3D000",), "does not exist", "there is no such database; create it with createdb"),
        (("53100",), "is full", "no space is left; free some, then try again"),
        (("42P01", "3F000"), "no such table", "it has no runs yet; start a worker or a run"),
        (("42501",), "permission denied", "the user has no access; grant all rights on the schema dbos"),
        (("53300",), "too many", "it takes no more connections; raise its limit, or start fewer workers"),
        ((), "version_timestamp", "DBOS needs SQLite 3.42 on Python 3.12 and newer; use Python 3.11 or PostgreSQL"),
        ((), "refused", "nothing answers there; check the address, and whether the server runs"),
        ((), "resolve", "the name of the host is unknown; check the address"),
        ((), "timeout", "it does not answer; check the address and the network"),
        ((), "is locked", "it is busy; try again"),
        ((), "unable to open", "the file cannot be opened; check its folder and your rights"),
        ((), "readonly", "the file is read-only; change its permissions"),
        ((), "not a database", "this is not a SQLite database; name another file"),
        ((), "malformed", "the file is damaged; restore a copy"),
    )
    for codes, part, words in known:
        if code in codes or (not code and part in text):
            return f"the database {shown}: {words}"
    kind = f"{type(error).__name__} {code}".strip()
    words = f"lost the connection, or the server failed ({kind}); look into its log, then try again"
    return f"the database {shown}: {words}"


def network_of(path: str, mounts: str = "/proc/self/mounts") -> str:
    """Return the type of the network disk that a path is on, or ""."""
    found = ("", "")
    with suppress(OSError), open(mounts, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            _, folder, kind, *_ = line.split(" ")
            folder = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), folder)
            if os.path.commonpath([folder, os.path.realpath(path)]) == folder and len(folder) >= len(found[0]):
                found = (folder, kind)
    return found[1] if found[1].startswith(ON_NETWORKS) else ""


# --- Legs ---


class Place(NamedTuple):
    """Where legs of a program wait: their queue and the version of the program."""

    queue: str
    version: str


class Leg(NamedTuple):
    """A leg: its state in DBOS, the worker that has it, and its result once it has ended. Times are in milliseconds."""

    run: str
    number: int
    status: str
    worker: str
    version: str
    updated: int
    due: int
    result: Table

    @property
    def is_active(self) -> bool:
        """Whether the leg waits for a worker or is at one."""
        return self.status in ACTIVE


def now_ms() -> int:
    """Return the time in milliseconds."""
    return time.time_ns() // 10**6


def leg_id(run: str, number: int) -> str:
    """Return the name of a leg."""
    return f"{run}.{number}"


class Legs(Database):
    """The rows of a program's legs."""

    def enqueue(
        self, run: str, number: int, given: Table, place: Place, due: float = 0, result: Table = NO_RESULT
    ) -> bool:
        """Add a leg and return True, or return False if the run has a leg of this number.

        `given` has the records that start the leg, `due` is the time in seconds when it may start. A leg with a
        `result` has ended.
        """
        name, now, is_late = leg_id(run, number), now_ms(), due > time.time()
        row = {
            "workflow_uuid": name, "name": LEG, "serialization": "portable_json", "recovery_attempts": 0,
            "status": "SUCCESS" if result else "DELAYED" if is_late else "ENQUEUED",
            "created_at": now, "updated_at": now, "application_name": self.application,
            "application_version": place.version, "queue_name": place.queue,
            "priority": BEFORE if number > 1 else AFTER, "creator_xid": os.urandom(16).hex(),
            "parent_workflow_id": leg_id(run, number - 1) if number > 1 else None,
            "delay_until_epoch_ms": int(due * 1000) if is_late else None,
        }  # fmt: skip
        inputs = json.dumps({"positionalArgs": [run, number, given], "namedArgs": {}}, separators=(",", ":"))
        marks = ", ".join("?" * len(row))
        added = f"INSERT INTO workflow_status ({', '.join(row)}) VALUES ({marks}) ON CONFLICT DO NOTHING"
        more = "INSERT INTO workflow_input (workflow_uuid, inputs, retention_timestamp) VALUES (?, ?, ?)"
        with self.transaction() as cursor:
            cursor.execute(self.dialect(added), tuple(row.values()))
            is_first = bool(cursor.rowcount == 1)
            if is_first:
                cursor.execute(self.dialect(more), (name, inputs, now))
            if is_first and result:
                ended = more.replace("inputs", "output").replace("_input", "_output")
                cursor.execute(self.dialect(ended), (name, json.dumps(result, separators=(",", ":")), now))
        return is_first

    def of_run(self, run: str) -> list[Leg]:
        """Return the legs of a run in order."""
        found: list[Leg] = []
        while len(found) % AT_ONCE == 0:
            names = [leg_id(run, number) for number in range(len(found) + 1, len(found) + AT_ONCE + 1)]
            marks = ", ".join("?" * AT_ONCE)
            rows = self._read(f"s.application_name = ? AND s.workflow_uuid IN ({marks})", self.application, *names)
            if not rows:
                break
            found += sorted(rows, key=lambda leg: leg.number)
        return found

    def newest(self, is_over: bool = False, most: int = 0) -> list[Leg]:
        """Return the newest leg of each run: of all unfinished runs, or of the newest `most` runs that have ended."""
        if not self.is_ready():
            return []
        ended = " OR ".join(f"""o.output LIKE '{{"state":"{word}"%'""" for word in ("complete", "stop", "canceled"))
        what = f"{'' if is_over else 'NOT '}COALESCE({ended}, FALSE)"
        order = f"ORDER BY s.created_at DESC{f' LIMIT {most}' if most else ''}"
        if not self.is_sqlite:
            what = what.replace("%", "%%")
        return self._read(f"s.application_name = ? AND {what} AND {LAST} {order}", self.application)[::-1]

    def expired(self, version: str) -> list[Leg]:
        """Return the newest legs of runs of a version that have waited too long for a person."""
        where = f"s.application_name = ? AND s.application_version = ? AND o.output LIKE ? AND {LAST}"
        found = self._read(where, self.application, version, '%"expires":%')
        return [leg for leg in found if leg.result.get("expires", float("inf")) < time.time()]

    def _read(self, where: str, *values: object) -> list[Leg]:
        columns = ", ".join(f"s.{column}" for column in ("workflow_uuid", *COLUMNS))
        query = f"SELECT {columns}, o.output FROM workflow_status s LEFT JOIN workflow_output o USING (workflow_uuid)"
        rows = self.rows(f"{query} WHERE s.name = '{LEG}' AND {where}", *values)
        return [leg_of(*row) for row in rows if re.fullmatch(rf"{RUN_NAME}\.[0-9]{{1,9}}", row[0])]

    def journal(self, run: str, number: int, first: int = 1) -> tuple[list[Record], Table]:
        """Return the records of a run's legs up to a number, and the input of the first of these legs."""
        names = [leg_id(run, each) for each in range(first, number + 1)]
        inputs: dict[str, str] = {}
        outputs: dict[str, list[str]] = {}
        for place in range(0, len(names), AT_ONCE):
            some = names[place : place + AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = "SELECT workflow_uuid, inputs FROM workflow_input WHERE workflow_uuid IN"
            inputs.update(self.rows(f"{query} ({marks})", *some))
            query = "SELECT workflow_uuid, output FROM operation_outputs WHERE output IS NOT NULL AND workflow_uuid IN"
            for name, output in self.rows(f"{query} ({marks}) ORDER BY workflow_uuid, function_id", *some):
                outputs.setdefault(name, []).append(output)
        given, records = [json.loads(inputs[name])["positionalArgs"][2] for name in names], []
        for name, each in zip(names, given, strict=True):
            said = (json.loads(json.loads(output)) for output in outputs.get(name, ()))
            records += [*each["records"], *(one["record"] for one in said if "record" in one)]
        kept = (record for record in records if record["kind"] != "process")  # another process may have its pid
        return [{"n": place, **record} for place, record in enumerate(kept)], given[0]

    def cancel(self, leg: Leg) -> None:
        """Cancel a leg, unless it has ended."""
        cleared = "owner_xid = NULL, queue_name = NULL, started_at_epoch_ms = NULL, updated_at = ?, completed_at = ?"
        query = f"UPDATE workflow_status SET status = 'CANCELLED', {cleared} WHERE workflow_uuid = ? AND status IN"
        with self.transaction() as cursor:
            values = (now_ms(), now_ms(), leg_id(leg.run, leg.number), *ACTIVE)
            cursor.execute(self.dialect(f"{query} (?, ?, ?)"), values)

    def queue_again(self, worker: str, queue: str, names: Sequence[str] = ()) -> int:
        """Queue the legs that a worker has, or some of them, and return how many.

        `resume_workflows` of DBOS would also queue legs that were canceled, or that another worker has by now.
        """
        some = f" AND workflow_uuid IN ({', '.join('?' * len(names))})" if names else ""
        what = "status = 'ENQUEUED', owner_xid = NULL, started_at_epoch_ms = NULL, recovery_attempts = 0"
        query = f"UPDATE workflow_status SET {what}, queue_name = ?, updated_at = ? WHERE status = 'PENDING'"
        with self.transaction() as cursor:
            cursor.execute(self.dialect(f"{query} AND executor_id = ?{some}"), (queue, now_ms(), worker, *names))
            return int(cursor.rowcount)

    def forget(self, newest: Leg) -> None:
        """Delete a run with all its legs."""
        names = [leg_id(newest.run, number) for number in range(1, newest.number + 1)]
        with self.transaction() as cursor:
            for table in ("operation_outputs", "workflow_input", "workflow_output", "workflow_status"):
                query = self.dialect(f"DELETE FROM {table} WHERE workflow_uuid = ?")
                cursor.executemany(query, [(name,) for name in names])

    def lost(self, names: Sequence[str], worker: str) -> set[str]:
        """Return which legs a worker has lost: they were canceled, or another worker has taken them."""
        marks = ", ".join("?" * len(names))
        query = "SELECT workflow_uuid FROM workflow_status WHERE status = 'PENDING' AND executor_id = ?"
        kept = {row[0] for row in self.rows(f"{query} AND workflow_uuid IN ({marks})", worker, *names)}
        return {*names} - kept

    def workers(self) -> dict[str, int]:
        """Return the workers that have legs, and how many."""
        query = "SELECT executor_id, COUNT(*) FROM workflow_status WHERE status = 'PENDING' AND application_name = ?"
        rows = self.rows(f"{query} AND name = '{LEG}' GROUP BY executor_id", self.application)
        return {worker: count for worker, count in rows if re.fullmatch(WORKER_NAME, worker or "")}

    def others(self, run: str) -> int:
        """Return how many other runs are queued or running."""
        query = "SELECT COUNT(*) FROM workflow_status WHERE status IN (?, ?) AND application_name = ?"
        active: int = self.rows(f"{query} AND workflow_uuid <> ?", *ACTIVE[:2], self.application, leg_id(run, 1))[0][0]
        return active

    def queued(self) -> list[tuple[str, int, int]]:
        """Return the versions that queued legs need, how many legs those are, and since when they wait."""
        query = "SELECT application_version, COUNT(*), MIN(created_at) FROM workflow_status WHERE status = 'ENQUEUED'"
        rows = self.rows(f"{query} AND application_name = ? GROUP BY application_version", self.application)
        return [(version or "", count, since) for version, count, since in rows]


def leg_of(name: str, *columns: Any) -> Leg:  # values of `COLUMNS`, and the output
    """Return a row as a leg."""
    run, _, number = name.rpartition(".")
    status, worker, version, created, updated, due, output = columns
    result = json.loads(output) if output else {}
    return Leg(run, int(number), status, worker or "", version or "", updated or created, due or 0, result)
