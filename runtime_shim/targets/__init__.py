"""Support for programs that the file of another target calls.

`make` turns make's variables into options, and names the Makefile's targets in hints.
`naming` makes the names of steps readable.
"""
