from pathlib import Path

import httpx
import pytest
from scripts.local_server import LocalServer, ServerTrouble


def test_a_server_answers_while_the_block_lasts_and_leaves_nothing(tmp_path: Path) -> None:
    server = LocalServer(tmp_path / "x")
    with server:
        # Its own account is let in by the token that it left for itself.
        with httpx.Client(headers=bearer(server)) as client:
            me = client.get(f"{server.url}/api/v1/users/me").json()
        family = {process.name for process in server.processes()}
    assert me["role"] == "admin"
    assert "postgres" in family
    assert server.leftovers == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/health")


def test_a_server_that_cannot_start_tells_its_last_words(tmp_path: Path) -> None:
    config = tmp_path / "kernelbot.toml"
    config.write_text("devices = 7")
    with pytest.raises(ServerTrouble, match="devices"), LocalServer(tmp_path / "x", config=config):
        pass


def bearer(server: LocalServer) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.own_endpoint().token}"}
