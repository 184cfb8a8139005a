"""`rdc lsp`: the language server for editors."""

import click

from rdc.terminal.output import tell


@click.command(name="lsp")
@click.option("--stdio", is_flag=True, help="Use standard input and output, as always. Some editors add this option.")
def command(*, stdio: bool) -> int:  # noqa: ARG001 (editors pass it)
    """Serve an editor: diagnostics, fixes, jumps, renames and completion while you type.

    An editor starts this command. It speaks the Language Server Protocol on standard input and output. It reads
    documents, but never writes or runs one.

    Exit codes: 0 the editor shut the server down, 1 it disconnected, 2 usage error.
    """
    try:
        from rdc.lsp.server import serve  # noqa: PLC0415 (an extra, and slow to import)
    except ModuleNotFoundError as error:
        if str(error.name).split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        tell("rdc lsp needs the package `pygls`; install rdc with its extra `lsp`")
        return 2
    return serve()
