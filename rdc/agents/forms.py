"""Forms: a person's reply to a question, by the client of either protocol version.

Up to 2025-11-25 the server sends the form during the call. At 2026-07-28 the call ends with `input_required`, and the
client repeats it with the reply.
"""

from typing import Any

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.types import CallToolRequestParams, ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from msgspec import Struct
from pydantic import ValidationError

FIELD = "reply"
"""The only field of a form."""

ANY = "-"
"""The reply that means any text."""

LONGEST_CLIENT = 80
"""How much of a client's name the journal gets, in characters."""

Context = ServerRequestContext[Any, Any]


class Form(Struct, frozen=True):
    """A question: its key, which no later question has, its text, and its replies; `-` is any text, or any number."""

    key: str
    message: str
    replies: tuple[str, ...]
    is_number: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """One required field without a default, so that an empty form answers nothing."""
        of_text = {"type": "string", "minLength": 1} if ANY in self.replies else {"enum": list(self.replies)}
        kind = {"type": "number"} if self._takes_number else {"type": "string", **of_text}
        return {"type": "object", "properties": {FIELD: {"title": FIELD.title(), **kind}}, "required": [FIELD]}

    @property
    def _takes_number(self) -> bool:
        return self.is_number and ANY in self.replies

    def reply(self, result: object) -> str | None:
        """Return the reply, or None: a person who declines, cancels or sends an empty form has not answered."""
        if not isinstance(result, ElicitResult) or result.action != "accept":
            return None
        value = (result.content or {}).get(FIELD)
        if self._takes_number:
            return f"{value:.15g}" if isinstance(value, int | float) and not isinstance(value, bool) else None
        if not isinstance(value, str):
            return None
        return value if (value.strip() if ANY in self.replies else value in self.replies) else None


def takes_forms(context: Context) -> bool:
    """Return whether the client shows forms."""
    capabilities = context.session.client_capabilities
    kind = capabilities.elicitation if capabilities else None
    return kind is not None and (kind.form is not None or kind.url is None)


async def ask(context: Context, params: CallToolRequestParams, form: Form) -> str | InputRequiredResult | None:
    """Return the reply to a form, None without one, or the result that lets the client ask."""
    content = ElicitRequestFormParams(message=form.message, requested_schema=form.schema)
    if not context.session.can_send_request:
        if form.key not in (params.input_responses or {}):
            return InputRequiredResult(input_requests={form.key: ElicitRequest(params=content)})
        return form.reply((params.input_responses or {})[form.key])
    try:
        return form.reply(await context.session.elicit_form(form.message, form.schema, context.request_id))
    except (MCPError, ValidationError):  # the client can't show it, or sent something else
        return None


def client_of(context: Context) -> str:
    """Return the client's name, which it reports itself."""
    about = context.session.client_params
    name = "".join(filter(str.isprintable, about.client_info.name if about else ""))
    return " ".join(name.split())[:LONGEST_CLIENT] or "an unknown client"
