"""Postgres: named SQL, repositories, the queue, migrations, the embedded server."""
