"""`rdc build`: build all documents of a project, and compile only the changed ones.

`plan` finds the documents and lists the tasks, `compiling` compiles them on all cores and records their inputs,
`records` stores the records, `lock` lists the items to review, `standing` compares the files with their expected
contents, and `build` combines these.
"""
