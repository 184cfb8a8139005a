"""`rdc build`: build all documents of a project, and compile only the changed ones.

`plan` lists the tasks, `sources` finds the documents, `compiling` compiles one and records its inputs, `workers` uses
all cores, `records` stores the records, `items` and `lock` list the items to review, `standing` compares the files with
their expected contents, and `build` combines these.
"""
