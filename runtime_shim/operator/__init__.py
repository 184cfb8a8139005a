"""What operators ask for beyond running and resuming.

`history` lists and prunes archived runs, `moving` jumps to another step, `signing` says who decided. `by_hand`, `logs`,
`notices`, `several_runs`, `mocks`, `mocked` and `stage_mocks` are in the editions `agents` and `contract` alone.
"""
