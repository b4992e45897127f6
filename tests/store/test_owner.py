import psycopg
import pytest


def test_our_role_starts_no_program_and_reads_no_file(database_url: str) -> None:
    for statement in (
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_read_file('/etc/hostname')",
        "CREATE DATABASE another",
        "ALTER SYSTEM SET fsync = off",
    ):
        with (
            psycopg.connect(database_url, autocommit=True) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement.encode())
