"""The operator's commands about the embedded database."""

from pathlib import Path

import pytest

from kernelbot.store.history import known_migrations
from kernelbot.store.migrate import Release, migrate
from kernelbot.store.schema import Code, this_code
from tests.support.terminal import Shell


@pytest.mark.exhaustive
def test_a_database_is_migrated_backed_up_and_put_back(shell: Shell, tmp_path: Path) -> None:
    made = shell("db", "migrate", "--data", "one", "--json")
    kept = shell("backup", "all.dump", "--data", "one", "--json")
    again = shell("backup", "all.dump", "--data", "one", "--json")
    printed = shell("backup", "more.dump", "--data", "one").out.splitlines()[-1].split()
    assert 0 == shell(*printed[1:]).code
    back = shell("restore", "all.dump", "--data", "two")
    nothing_new = shell("db", "migrate", "--data", "two", "--json")
    assert "\n  kernelbot db activate --data two\n" in back.out.replace(str(tmp_path) + "/", "")
    activated = shell("db", "activate", "--data", "two", "--json").document
    copied = shell("db", "copy", "--data", "two", "--json").document
    assert ({"copy": False}, {"copy": True}) == (activated, copied)
    assert (0, 0, 0) == (made.code, kept.code, back.code)
    assert (2, "conflict") == (again.code, again.document["error"]["code"])
    assert (True, 0) == ((tmp_path / "all.dump").stat().st_size > 0, nothing_new.code)


def test_a_database_of_ones_own_is_finished_by_a_command_of_its_own(
    shell: Shell, empty_database_url: str
) -> None:
    older = Release(known_migrations(), Code(this_code().text + "\nSELECT 1;"))
    migrate(empty_database_url, release=older)
    own = Shell(shell.home, {"DATABASE_URL": empty_database_url})
    beside, finished = own("db", "migrate"), own("db", "migrate", "--finish", "--json")
    assert "\n  kernelbot db migrate --finish\n" in beside.out
    assert {
        "applied": [f"-{older.code.schema}"],
        "kept": None,
        "finished": True,
    } == finished.document


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_server_elsewhere_is_not_mistaken_for_this_machine_s_folder(
    shell: Shell, command: str
) -> None:
    elsewhere = {"KERNELBOT_URL": "http://kernels.example.org"}
    error = Shell(shell.home, elsewhere)(command, "all.dump", "--json").document["error"]
    assert ("bad_request", True) == (error["code"], "--data" in error["hint"])
