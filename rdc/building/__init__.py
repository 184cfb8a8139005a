"""`rdc build`: all documents of a project become their files, and only those that changed are compiled.

`plan` says what is built from what, `sources` finds the documents, `compiling` compiles one of them and notes what it
read, `workers` does that on all cores, `records` keeps the notes, `items` and `lock` list what a reviewer must not
miss, `standing` compares the files with what they should be, and `build` puts these together.
"""
