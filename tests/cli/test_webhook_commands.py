import pytest

from tests.support.live import LiveServer
from tests.support.terminal import Shell

URL = "https://hooks.example/kernels"


@pytest.mark.exhaustive  # each run has test_a_boards_webhook_is_for_its_organisers
def test_a_webhook_from_its_creation_to_its_deletion(ada: Shell, live: LiveServer) -> None:
    made = ada("webhook", "create", URL)
    number = str(ada("webhook", "list", "--json").document["webhooks"][0]["id"])
    tried = ada("webhook", "test", number)
    log = ada("webhook", "log", number, "--json").document["messages"]
    shown = ada("webhook", "log", number)
    gone = ada("webhook", "delete", number, "--json")
    assert {"webhook_id": int(number), "deleted": True} == gone.document
    assert (True, 0, ["webhook.test"], True, 0) == (
        "whsec_" in made.out,
        tried.code,
        [message["event"] for message in log],
        "waiting" in shown.out,
        gone.code,
    )
    assert [] == ada("webhook", "list", "--json").document["webhooks"]


def test_a_boards_webhook_is_for_its_organisers(ada: Shell, admin: Shell, live: LiveServer) -> None:
    live.call(live.world.board())
    made = admin(
        *("webhook", "create", URL, "--board", "sort", "--event", "ranking.record", "--json")
    )
    refused = ada("webhook", "create", URL, "--board", "sort")
    listed = admin("webhook", "list", "--board", "sort")
    assert (["ranking.record"], 2, True) == (
        made.document["events"],
        refused.code,
        "ok" in listed.out,
    )
    assert made.document["secret"] not in listed.out


def test_an_address_inside_is_refused_with_a_sentence(ada: Shell) -> None:
    said = ada("webhook", "create", "https://127.0.0.1/")
    assert (2, True) == (said.code, "private network" in said.err)
