"""The untrusted end: runs in one process with the author's code, so nothing it says is trusted."""
