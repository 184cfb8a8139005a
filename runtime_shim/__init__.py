"""The runtime of compiled programs: `rdc run` uses it in place, generated files contain an edition of it.

`engine` moves a run. `tasks` runs steps, `data` handles their data, `stepspec` is for step specifications,
`operator` has features for operators, `publish` puts results into a repository. `editions` lists the
modules of each edition. All of it needs only Python 3.9.
"""
