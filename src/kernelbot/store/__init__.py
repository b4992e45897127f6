"""Postgres: the pool, named SQL, the schema and its migrations, the embedded server."""
