"""Taking a time, when to stop, and whether a claim can be true."""
