"""The runtime of compiled programs: `rdc run` uses it in place, generated files carry an edition of it.

`engine` moves a run; `tasks` has what steps do, `data` what flows between them, `contract` what step specifications
ask for, `operator` what people ask for beside running; `publish` leaves results in a repository. `editions` says which
modules an edition is made of. All of it needs nothing but Python 3.9.
"""
