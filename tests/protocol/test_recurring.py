"""Whether the generator of a problem is known."""

from dataclasses import replace

import pytest

from kernelbot.protocol import SourceFile
from kernelbot.protocol.recurring import has_generator
from tests.harness.jobs import a_problem

DEFINED = "def generate_input(seed): ..."


@pytest.mark.parametrize(
    ("files", "known"),
    [
        ({"reference.py": DEFINED}, True),
        ({"reference.py": DEFINED, "eval.py": ""}, True),
        ({"reference.py": "x = 1", "eval.py": DEFINED}, False),
        ({"eval.py": DEFINED}, False),
        ({}, False),
    ],
)
def test_only_that_of_the_reference_is_known(files: dict[str, str], known: bool) -> None:
    sources = tuple(SourceFile(name, text) for name, text in files.items())
    assert known is has_generator(replace(a_problem(), files=sources))
