"""How a program is called by the file of another target.

`make` takes what make was given as options, and has hints name targets of the Makefile.
`naming` is how people read the name of a step.
"""
