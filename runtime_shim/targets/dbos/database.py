"""The database that all workers of a program share: SQLite or PostgreSQL, and its errors in words."""

import os
import re
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from runtime_shim.engine.private import is_trusted, refuse_links
from runtime_shim.engine.program import RefusedError
from runtime_shim.engine.texts import one_line

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
                    raise RefusedError(f"{self.shown} {why}")
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
            raise RefusedError(f"{self.shown} belongs to another user, who can change the runs; name another file")

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
                raise RefusedError(self.words(error)) from None
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
            raise RefusedError("the database's address has an @ after its host; in the password, write / as %2F")
    except ValueError:  # the port is not a number
        parts, host, port = urllib.parse.urlsplit(""), "", ""
    if parts.scheme not in ("postgresql", "postgres") or not parts.path.strip("/"):
        raise RefusedError("unknown database; use sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME")
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
