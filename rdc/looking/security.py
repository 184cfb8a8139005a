"""Access to the server of a page. The address has a token, which only its page knows."""

import hmac
import secrets
from collections.abc import Mapping
from email.message import Message

from msgspec import Struct, field

TOKEN_BYTES = 24
MOST_BODY = 1 << 20

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The headers of each answer. None of them lets another site read it."""


class DeniedError(Exception):
    """A request that gets no answer but a status and a sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(status, why)
        self.status, self.why = status, why


class Door(Struct, frozen=True):
    """The address that a server has, and its token."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))

    @property
    def host(self) -> str:
        """The exact `Host` of each request."""
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        """The origin of the page."""
        return f"http://{self.host}"

    @property
    def address(self) -> str:
        """The address of the page. The token is in its fragment, which a browser doesn't send."""
        return f"{self.origin}/#{self.token}"

    def check(self, path: str, headers: Message) -> None:
        """Raise `DeniedError` unless the request is for this server, from its page, and has the token for data."""
        if headers.get_all("Host") != [self.host]:
            raise DeniedError(421, f"this server is {self.host}")
        if any(origin != self.origin for origin in headers.get_all("Origin", ())):
            raise DeniedError(403, "another site asks")
        # `/` has no data, and browsers call the way from a file with the address cross-site.
        if path != "/" and not {*headers.get_all("Sec-Fetch-Site", ())} <= {"same-origin", "none"}:
            raise DeniedError(403, "another site asks")
        if path.startswith("/api/"):
            given, expected = headers.get_all("Authorization", ()), f"Bearer {self.token}".encode()
            if len(given) != 1 or not hmac.compare_digest(given[0].encode("utf-8", "replace"), expected):
                raise DeniedError(401, "wrong token; open the address that `rdc view` printed")


def length_of(headers: Message, *, has_body: bool) -> int:
    """Return the length of a body of JSON. Raise `DeniedError` if two readers could see another one, or it is long."""
    given = headers.get_all("Content-Length", ())
    if headers.get_all("Transfer-Encoding") or len(given) > 1:
        raise DeniedError(400, "send one Content-Length and no Transfer-Encoding")
    if not given:
        return 0
    if not given[0].isdecimal():
        raise DeniedError(400, "the Content-Length is not a number")
    if len(given[0]) > 9 or int(given[0]) > MOST_BODY:
        raise DeniedError(413, f"the body is longer than {MOST_BODY:,} bytes")
    if int(given[0]) and not has_body:
        raise DeniedError(400, "this request has no body")
    return int(given[0])
