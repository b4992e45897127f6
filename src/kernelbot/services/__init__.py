"""Use cases, one module per noun. They own the transaction."""
