"""What operators ask for beyond running and resuming.

`history` lists and prunes archived runs, `moving` jumps to another step, `signing` records who decided. Only the
editions `agents` and `contract` have `notices`, `several_runs` and `mocks`: files that answer in mock runs. With these,
`stand_ins` are for agents and commands, `mock_stages` for specifications. `logs` is in `agents`.
"""
