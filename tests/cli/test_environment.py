"""`kernelbot env serve` refuses what can't be before it serves anything."""

import pytest

from tests.environment.examples import EXAMPLES
from tests.support.terminal import Shell

SORT = str(EXAMPLES / "sort_np")


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("There is no folder nope.", ("nope",)),
        ("No reward is called 'x'.", (SORT, "--reward", "x")),
        ("There is no payment 'x'.", (SORT, "--pay", "x")),
        ("There is no way of holding out 'x'.", (SORT, "--held-out", "x")),
        ("An episode has from 1 to 1000 attempts.", (SORT, "--attempts", "1001")),
        ("A server has from 1 to 10000 sessions.", (SORT, "--sessions", "10001")),
        ("A session must be allowed to be idle for some time.", (SORT, "--idle", "0")),
        ("`most_speed` must be 1 at least", (SORT, "--most-speed", "0.5")),
        ("'x' isn't a repository's address", ("git+x",)),
        ("There is no device 'x' here.", (SORT, "--device", "x", "--port", "0")),
        (
            '"H100\'; x" is no address of a Ray cluster.',
            (SORT, "--cluster", "H100'; x", "--port", "0"),
        ),
    ],
)
def test_a_mistake_is_a_sentence(shell: Shell, said: str, arguments: tuple[str, ...]) -> None:
    said_by_it = shell("env", "serve", *arguments)
    assert 2 == said_by_it.code
    assert said in said_by_it.err
