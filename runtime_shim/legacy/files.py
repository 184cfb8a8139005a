"""Text files that the operator names."""

from pathlib import Path

from runtime_shim.legacy.program import RefusedError

LARGEST_INPUT = 1 << 20  # bytes


def read_text(path: str) -> str:
    """Read a text file that is given as an input, or holds several."""
    with Path(path).open("rb") as file:
        content = file.read(LARGEST_INPUT + 1)
    if len(content) > LARGEST_INPUT:
        raise RefusedError(f"{path}: larger than {LARGEST_INPUT:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedError(f"{path}: not UTF-8") from None
