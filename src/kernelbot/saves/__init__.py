"""A file that is judged whenever it is saved (`kernelbot dev`)."""
