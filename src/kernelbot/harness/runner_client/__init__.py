"""The trusted end of a runner: what is said to it, given to it, and held still."""
