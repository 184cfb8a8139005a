"""The runtime of compiled programs, for Python 3.9: `rdc run` uses it in place, generated files contain an edition."""
