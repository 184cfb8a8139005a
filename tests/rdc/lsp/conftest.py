"""One editor with one server for each module: to start them takes longer than most tests."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.support.editor import Editor, editor


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client() -> AsyncIterator[Editor]:
    """An editor that shows no window and no error of the server when it ends."""
    async with editor() as one:
        yield one
    assert not one.messages
    assert not one.log_messages
