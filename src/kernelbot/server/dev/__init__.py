"""`kernelbot dev`: judges a file again whenever it is saved, and keeps every version."""
