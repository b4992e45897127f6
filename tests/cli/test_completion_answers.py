"""What a shell offers if what answers isn't the server that was meant."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest

from tests.cli.test_completion import offered
from tests.client.spoken import Handle, answer
from tests.support.terminal import Shell

LINE = "kernelbot board show "


def asking(shell: Shell, url: str) -> Shell:
    return Shell(shell.home, {"KERNELBOT_URL": url, "KERNELBOT_TOKEN": "kb_x"})


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b"[]", b"{}", b'{"boards": 1}', b'{"boards": [1]}', b'{"boards": [{}]}']
)
def test_another_programs_answer_offers_nothing(
    shell: Shell, serve: Callable[[Handle], str], body: bytes
) -> None:
    url = serve(lambda handler: answer(handler, 200, body))
    assert [] == offered(asking(shell, url), LINE)


def test_a_token_goes_to_no_other_server(shell: Shell, serve: Callable[[Handle], str]) -> None:
    asked = list[str]()

    def another(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        answer(handler, 200, b'{"boards": [{"name": "sort"}]}')

    elsewhere = serve(another)

    def moved(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"{elsewhere}/api/v1/boards")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    assert ([], []) == (offered(asking(shell, serve(moved)), LINE), asked)
