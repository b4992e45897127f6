"""What HTTP models of all nouns share; pydantic, at the doors only."""
