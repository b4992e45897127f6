"""What a shell offers if what answers isn't the server that was meant."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest

from tests.cli.test_completion import offered
from tests.client.spoken import Handle, answer
from tests.support.terminal import Said, Shell

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


def no_http(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n")


def cut_short(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b'{"boards": [')


@pytest.mark.parametrize("handle", [no_http, cut_short])
def test_what_is_no_whole_answer_offers_nothing_and_prints_nothing(
    shell: Shell, serve: Callable[[Handle], str], handle: Handle
) -> None:
    words = {"_KERNELBOT_COMPLETE": "complete_bash", "COMP_WORDS": LINE, "COMP_CWORD": "3"}
    variables = asking(shell, serve(handle)).more | words
    assert Said(0, "\n", "") == Shell(shell.home, variables)()


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
