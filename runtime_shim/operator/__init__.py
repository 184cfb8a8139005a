"""Operators' features beyond running and resuming.

`history` lists and prunes archived runs, `moving` jumps to another step, `signing` records who decided. The
editions `agents` and `stepspec` also have `notices` and `several_runs`. Only `agents` has `logs`, and `stand_ins` for
runs in which a person does everything.
"""
