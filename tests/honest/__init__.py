"""Honest kernels in the styles of real authors, none of which may be refused."""
