"""`rdc init`: the files that a project starts with.

`files` decides on them without reading or writing anything, and `folder` compares them with what is there.
"""
