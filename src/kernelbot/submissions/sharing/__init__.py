"""Links by which authors show a result to people who have no account."""
