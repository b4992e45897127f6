"""`make mutants`: small changes of the source, and whether a test notices each.

`operators` makes the changes, `scope` says in which modules and which tests should notice, `trial`
tries one in a copy of the tree, `equivalents` knows those that change nothing, `report` says what
came of it.
"""
