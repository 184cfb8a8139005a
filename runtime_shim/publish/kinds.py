"""The kinds of publications, by name."""

from __future__ import annotations

from runtime_shim.publish.publisher_changes import publish_changes
from runtime_shim.publish.publisher_comment import publish_comment
from runtime_shim.publish.publisher_pull import publish_pull
from runtime_shim.publish.publisher_summary import publish_summary

KINDS = {
    "changes": publish_changes,
    "comment": publish_comment,
    "pull-request": publish_pull,
    "summary": publish_summary,
}


def published(kind: str) -> int:
    """Publish the run's output and return an exit code."""
    return KINDS[kind]()
