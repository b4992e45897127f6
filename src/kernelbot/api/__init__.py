"""HTTP routers by resource, one error table."""
