"""What is loaded of the protocol and the client, and when."""

import ast
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kernelbot import client, protocol


@pytest.mark.parametrize("package", [protocol, client], ids=["protocol", "client"])
def test_each_name_has_the_home_that_readers_of_the_source_are_told(package: ModuleType) -> None:
    assert package.__file__ is not None
    source = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    told = {
        (node.module, alias.name)
        for condition in ast.walk(source)
        if isinstance(condition, ast.If)
        for node in ast.walk(condition)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes: dict[str, tuple[str, ...]] = package._HOMES
    given = {(f"{package.__name__}.{home}", name) for home in homes for name in homes[home]}
    assert given == told
    assert sorted(package.__all__) == sorted(name for _, name in given)
    assert [] == [name for name in package.__all__ if not hasattr(package, name)]


def test_a_name_is_looked_up_once() -> None:
    vars(protocol).pop("Mode", None)
    assert protocol.Mode is vars(protocol)["Mode"]


def test_what_no_module_has_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        getattr(protocol, "Nothing")  # noqa: B009 (type checkers know that there is none)


@pytest.mark.parametrize(
    ("wanted", "spared"),
    [
        (
            "from kernelbot.protocol import Mode",
            {"kernelbot.protocol.result", "kernelbot.protocol.job"},
        ),
        ("from kernelbot.client import find_endpoint", {"httpx", "pydantic"}),
    ],
    ids=["protocol", "client"],
)
def test_what_isnt_asked_for_isnt_loaded(wanted: str, spared: set[str]) -> None:
    program = f"import sys; {wanted}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert set() == spared & set(done.stdout.decode().split())
