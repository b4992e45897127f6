"""The client's end of the warm judge: which one a job needs, starting it, and talking to it."""
