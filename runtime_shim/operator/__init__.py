"""Operators' features beyond running and resuming.

`history` lists and prunes archived runs, `moving` jumps to another step, `signing` records who decided. The
editions `agents` and `contract` also have `notices`, `several_runs` and `mocks`, which answer mock runs from files:
`stand_ins` for agents and commands, `mock_stages` for specifications. `logs` is only in `agents`.
"""
