"""Who someone is: our tokens, and the OAuth providers that people log in with."""
