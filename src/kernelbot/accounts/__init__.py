"""People: accounts, logging in, tokens, and who may do what."""
