"""`make mutants`: small changes of the source, and whether a test notices each.

`operators` makes the changes, `scope` says in which modules and among which tests one should
notice. `recording` runs the tests once for `lines`: which test executes which. `choice` chooses by
them. `forked` tries a change of a function in a fork of a process that has loaded all, where
`exchange` makes it; `trial` tries others in a copy of the tree. `trying` does all that,
`equivalents` knows the changes that change nothing, and `report` says what came of it.
"""
