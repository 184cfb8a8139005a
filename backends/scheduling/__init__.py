"""Steps and jobs: a program divided into parts that run at most once, in order, for any target."""
