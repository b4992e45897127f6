"""Makes problem folders of other suites' public formats. Nothing of a suite is executed here: what
is Python is read from its syntax, and runs where the problem is judged."""
