"""The database that all workers of a program share: rows of legs, in the tables of DBOS 3.4.

DBOS writes these rows for workers. Operators' commands read and write them here, since loading DBOS takes a second.
The columns are those of `dbos/_schemas/system_database.py`.
"""

import json
import os
import re
import threading
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Optional

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import RefusedError, Table

ACTIVE = ("ENQUEUED", "PENDING", "DELAYED")
ON_NETWORKS = ("nfs", "cifs", "smb", "fuse.sshfs", "ceph", "glusterfs", "afs", "lustre", "9p")  # start of a type
LEG = "leg"  # the name of the workflow
AT_ONCE = 64  # legs of one query
NO_RESULT: Table = {}
BEFORE, AFTER = 1, 10  # priorities: legs that go on, and new runs
FIELDS = "s.workflow_uuid, s.status, s.executor_id, s.application_version, s.created_at, s.updated_at, s.delay_until_epoch_ms"


class Leg(NamedTuple):
    """A leg: its state in DBOS, the worker that has it, and its result once it has ended. Times are in milliseconds."""

    run: str
    number: int
    status: str
    worker: str
    version: str
    created: int
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


class Database:
    """A connection to SQLite or PostgreSQL, made at first use. Threads take turns."""

    def __init__(self, url: str, application: str) -> None:
        self.application = application
        self._lock, self._connection = threading.RLock(), None
        scheme, _, rest = url.partition("://")
        self.is_sqlite = scheme == "sqlite"
        if self.is_sqlite and rest.startswith("/") and rest[1:]:
            self.path = os.path.abspath(rest[1:])
            self.url, self.shown = f"sqlite:///{self.path}", rest[1:]
            return
        try:
            parts = urllib.parse.urlsplit(url)
            host = parts.hostname or dict(urllib.parse.parse_qsl(parts.query)).get("host") or "localhost"
            host += f":{parts.port}" if parts.port else ""
        except ValueError:
            parts = urllib.parse.urlsplit("")
        if parts.scheme not in ("postgresql", "postgres") or not parts.path.strip("/"):
            forms = "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"
            raise RefusedError(f"unknown address of a database; use {forms}")  # it may have a password: not shown
        self.url, self.shown = url, f"postgresql://{host}{parts.path}"

    # --- The connection ---

    def connect(self) -> Any:  # noqa: ANN401 (a connection of sqlite3 or psycopg)
        """Return a new connection that commits each statement."""
        with self.worded():
            if self.is_sqlite:
                import sqlite3

                if found := network_of(self.path):
                    raise RefusedError(
                        f"{self.shown} is on a network disk ({found}), where locks can fail; use PostgreSQL"
                    )
                return sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            import psycopg

            patience = {"connect_timeout": 5, "keepalives_idle": 3, "keepalives_interval": 1, "keepalives_count": 3}
            url = self.url.replace("postgres://", "postgresql://", 1)
            connection = psycopg.connect(url, autocommit=True, prepare_threshold=None, **patience)
            connection.execute("SET search_path = dbos, public")
            return connection

    def close(self) -> None:
        """Close the connection, if any; the next call makes another."""
        with self._lock, suppress(Exception):
            connection, self._connection = self._connection, None
            if connection is not None:
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
        except (RefusedError, OSError):
            raise
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("sqlite3", "psycopg", "sqlalchemy", "dbos"):
                raise
            raise RefusedError(problem_of(error, self.shown)) from None

    # --- Legs ---

    def is_ready(self) -> bool:
        """Return whether a worker has made the tables."""
        if self.is_sqlite:
            if not os.path.exists(self.path):
                return False
            return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = 'operation_outputs'"))
        return bool(self.rows("SELECT 1 FROM pg_tables WHERE schemaname = 'dbos' AND tablename = 'operation_outputs'"))

    def enqueue(
        self, run: str, number: int, given: Table, version: str, queue: str, due: float = 0, result: Table = NO_RESULT
    ) -> bool:
        """Add a leg and return True, or return False if the run has a leg of this number.

        `given` has the records that start the leg, `due` is the time in seconds when it may start. A leg with a
        `result` has ended.
        """
        name, now, is_late = leg_id(run, number), now_ms(), due > time.time()
        row = {
            "workflow_uuid": name, "name": LEG,
            "status": "SUCCESS" if result else "DELAYED" if is_late else "ENQUEUED",
            "queue_name": queue, "priority": BEFORE if number > 1 else AFTER, "created_at": now, "updated_at": now,
            "application_version": version, "application_name": self.application, "recovery_attempts": 0,
            "serialization": "portable_json", "creator_xid": os.urandom(16).hex(),
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
                cursor.execute(
                    self.dialect(more.replace("inputs", "output").replace("_input", "_output")),
                    (name, json.dumps(result, separators=(",", ":")), now),
                )
        return is_first

    def legs(self, run: str) -> list[Leg]:
        """Return the legs of a run in order."""
        found: list[Leg] = []
        while len(found) % AT_ONCE == 0:
            names = [leg_id(run, number) for number in range(len(found) + 1, len(found) + AT_ONCE + 1)]
            rows = self._read(f"s.workflow_uuid IN ({', '.join('?' * AT_ONCE)})", *names)
            if not rows:
                break
            found += sorted(rows, key=lambda leg: leg.number)
        return found

    def newest(self, is_over: bool = False, most: int = 0) -> list[Leg]:
        """Return the newest leg of each run: of those that are over, the newest `most`, or of all others."""
        ended = " OR ".join(f"""o.output LIKE '{{"state":"{word}"%'""" for word in ("complete", "stop", "cancelled"))
        what = f"{'' if is_over else 'NOT '}COALESCE({ended}, FALSE)"
        last = "NOT EXISTS (SELECT 1 FROM workflow_status n WHERE n.parent_workflow_id = s.workflow_uuid)"
        order = f"ORDER BY s.created_at DESC{f' LIMIT {most}' if most else ''}"
        if not self.is_sqlite:
            what = what.replace("%", "%%")
        return self._read(f"s.application_name = ? AND {what} AND {last} {order}", self.application)[::-1]

    def _read(self, where: str, *values: object) -> list[Leg]:
        query = f"SELECT {FIELDS}, o.output FROM workflow_status s LEFT JOIN workflow_output o USING (workflow_uuid)"
        rows = self.rows(f"{query} WHERE s.name = '{LEG}' AND {where}", *values)
        return [leg_of(*row) for row in rows]

    def journal(self, run: str, number: int) -> tuple[list[Record], Table]:
        """Return the records of a run's first legs, and what the first leg was given beside them."""
        names = [leg_id(run, each) for each in range(1, number + 1)]
        inputs: dict[str, str] = {}
        outputs: dict[str, list[str]] = {}
        for place in range(0, number, AT_ONCE):
            some = names[place : place + AT_ONCE]
            marks = ", ".join("?" * len(some))
            inputs.update(
                self.rows(f"SELECT workflow_uuid, inputs FROM workflow_input WHERE workflow_uuid IN ({marks})", *some)
            )
            query = "SELECT workflow_uuid, output FROM operation_outputs WHERE output IS NOT NULL AND workflow_uuid IN"
            for name, output in self.rows(f"{query} ({marks}) ORDER BY workflow_uuid, function_id", *some):
                outputs.setdefault(name, []).append(output)
        given = [json.loads(inputs[name])["positionalArgs"][2] for name in names]
        records = []
        for name, each in zip(names, given, strict=True):
            said = (json.loads(json.loads(output)) for output in outputs.get(name, ()))
            records += [*each["records"], *(one["record"] for one in said if "record" in one)]
        return [{"n": place, **record} for place, record in enumerate(records)], given[0]

    def cancel(self, leg: Leg) -> None:
        """Cancel a leg, unless it has ended."""
        cleared = "owner_xid = NULL, queue_name = NULL, started_at_epoch_ms = NULL, updated_at = ?, completed_at = ?"
        query = f"UPDATE workflow_status SET status = 'CANCELLED', {cleared} WHERE workflow_uuid = ? AND status IN"
        with self.transaction() as cursor:
            values = (now_ms(), now_ms(), leg_id(leg.run, leg.number), *ACTIVE)
            cursor.execute(self.dialect(f"{query} (?, ?, ?)"), values)

    def forget(self, newest: Leg) -> None:
        """Delete a run with all its legs."""
        names = [leg_id(newest.run, number) for number in range(1, newest.number + 1)]
        with self.transaction() as cursor:
            for table in ("operation_outputs", "workflow_input", "workflow_output", "workflow_status"):
                query = self.dialect(f"DELETE FROM {table} WHERE workflow_uuid = ?")
                cursor.executemany(query, [(name,) for name in names])

    def lost(self, names: Sequence[str], worker: str) -> set[str]:
        """Return which legs a worker has lost: they were cancelled, or another worker has taken them."""
        marks = ", ".join("?" * len(names))
        query = "SELECT workflow_uuid FROM workflow_status WHERE status = 'PENDING' AND executor_id = ? AND workflow_uuid IN"
        kept = {row[0] for row in self.rows(f"{query} ({marks})", worker, *names)}
        return {*names} - kept

    def workers(self) -> dict[str, int]:
        """Return the workers that have legs, and how many."""
        query = "SELECT executor_id, COUNT(*) FROM workflow_status WHERE status = 'PENDING' AND application_name = ?"
        return dict(self.rows(f"{query} AND name = '{LEG}' GROUP BY executor_id", self.application))

    def queued(self) -> list[tuple[str, int, int]]:
        """Return the versions that queued legs need, how many legs those are, and since when they wait."""
        query = "SELECT application_version, COUNT(*), MIN(created_at) FROM workflow_status WHERE status = 'ENQUEUED'"
        rows = self.rows(f"{query} AND application_name = ? GROUP BY application_version", self.application)
        return [(version or "", count, since) for version, count, since in rows]


def leg_of(name: str, status: str, worker: Any, version: Any, created: int, updated: int, due: Any, output: Any) -> Leg:  # noqa: ANN401
    """Return a row as a leg."""
    run, _, number = name.rpartition(".")
    result = json.loads(output) if output else {}
    return Leg(run, int(number), status, worker or "", version or "", created, updated or created, due or 0, result)


def problem_of(error: Exception, shown: str) -> str:
    """Return an error of the database in words, with a remedy."""
    error = getattr(error, "orig", None) or error
    code, text = getattr(error, "sqlstate", None) or "", str(error).lower()
    known = (
        (("28P01", "28000"), "password", "it refuses the user or the password; correct the address"),
        (("3D000",), "does not exist", "there is no such database; create it with createdb"),
        (("53100",), "is full", "no space is left; free some, then try again"),
        (("42P01", "3F000"), "no such table", "no worker has used it yet; start a worker first"),
        (("42501",), "permission denied", "this user may not use it; grant the user all rights on the schema dbos"),
        (("53300",), "too many", "it takes no more connections; raise its limit, or start fewer workers"),
        ((), "refused", "nothing answers there; check the address, and whether the server runs"),
        ((), "resolve", "the name of the host is unknown; check the address"),
        ((), "timeout", "it does not answer; check the address and the network"),
        ((), "is locked", "it is busy; try again"),
        ((), "unable to open", "the file cannot be opened; check its folder and your rights"),
        ((), "readonly", "the file is read-only; change its permissions"),
        ((), "not a database", "the file is no SQLite database; name another one"),
        ((), "malformed", "the file is damaged; restore a copy"),
    )
    for codes, part, words in known:
        if code in codes or (not code and part in text):
            return f"the database {shown}: {words}"
    kind = f"{type(error).__name__} {code}".strip()
    return f"the database {shown}: the connection was lost or the server failed ({kind}); look into its log, then try again"


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
