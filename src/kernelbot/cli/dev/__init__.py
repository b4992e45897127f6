"""`kernelbot dev`: its commands, and what it shows."""
