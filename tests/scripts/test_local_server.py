import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from scripts.local_server import LocalServer, ServerTrouble
from scripts.processes import family, survivors

pytestmark = pytest.mark.exhaustive  # each run has a server in tests/server/test_serve.py


@pytest.mark.exhaustive
def test_a_server_answers_while_the_block_lasts_and_leaves_nothing(tmp_path: Path) -> None:
    server = LocalServer(tmp_path / "x")
    with server:
        # Its own account is let in by the token that it left for itself.
        with httpx.Client(headers=bearer(server), timeout=60) as client:
            me = client.get(f"{server.url}/api/v1/users/me").json()
        family = {process.name for process in server.processes()}
    assert me["role"] == "admin"
    assert "postgres" in family
    assert server.leftovers == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/health", timeout=60)


@pytest.mark.exhaustive
def test_a_server_has_the_variables_that_it_was_given(tmp_path: Path) -> None:
    server = LocalServer(tmp_path / "x", variables={"SOME_TOKEN": "a'; echo x"})
    assert server.environment()["SOME_TOKEN"] == "a'; echo x"


@pytest.mark.exhaustive  # each run has test_an_agent_goes_from_the_boards_to_a_place
def test_a_server_that_cannot_start_tells_its_last_words(tmp_path: Path) -> None:
    config = tmp_path / "kernelbot.toml"
    config.write_text("devices = 7")
    with pytest.raises(ServerTrouble, match="devices"), LocalServer(tmp_path / "x", config=config):
        pass


def test_a_server_is_started_by_the_command_before_it(tmp_path: Path) -> None:
    config = tmp_path / "kernelbot.toml"
    config.write_text("devices = 7")
    before = ("sh", "-c", 'echo "first"; exec "$@"', "sh")
    server = LocalServer(tmp_path / "x", config=config, before=before)
    with pytest.raises(ServerTrouble, match=r"(?s)first.*devices"), server:
        pass


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
@pytest.mark.exhaustive
def test_a_server_ends_with_whoever_was_killed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from scripts.local_server import LocalServer\n"
        "with LocalServer(Path(sys.argv[1])) as server:\n"
        "    print(server.pid, server.marker, flush=True); sys.stdin.read()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pid, marker = parent.stdout.readline().split()
    members = family(int(pid), marker)
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 60
    while survivors(members) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(members) > 3
    assert survivors(members) == []


def bearer(server: LocalServer) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.own_endpoint().token}"}
