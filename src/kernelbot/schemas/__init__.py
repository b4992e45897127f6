"""HTTP models: pydantic, at the doors only."""
