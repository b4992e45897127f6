"""What `kernelbot` itself offers, and what importing it costs."""

import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import kernelbot

EXPORTS = {
    "AsyncKernelbotClient",
    "Baseline",
    "Judge",
    "KernelbotClient",
    "OtherData",
    "Report",
    "RewardKind",
    "RewardRule",
    "judge",
    "load_ipython_extension",
}
LOADED = """\
import json, sys
before = set(sys.modules)
{}
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def loaded_by(program: str) -> set[str]:
    """The modules that a new Python loads for it."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(program)], capture_output=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_it_loads_nothing_else() -> None:
    loaded = loaded_by("import kernelbot")
    assert {"kernelbot"} == {name for name in loaded if not name.startswith(("importlib", "warn"))}


def test_the_version_is_said_without_loading_pydantic() -> None:
    said = (
        "sys.argv = ['kernelbot', '--version']\n"
        "try: import kernelbot.cli; kernelbot.cli.main()\n"
        "except SystemExit: pass"
    )
    modules = loaded_by(f"exec({said!r})")
    assert "kernelbot.cli.app" in modules
    assert set() == modules & {"pydantic", "httpx", "asyncio", "kernelbot.library"}


@pytest.mark.parametrize("name", sorted(EXPORTS))
def test_what_it_offers_is_there(name: str) -> None:
    assert name in dir(kernelbot)
    assert name == getattr(kernelbot, name).__name__


def test_another_name_is_an_attribute_error() -> None:
    assert not hasattr(kernelbot, "nope")


def told_to_type_checkers() -> set[tuple[str, str]]:
    """From which module they have each name."""
    stub = Path(kernelbot.__file__).with_suffix(".pyi")
    found = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    return {(node.module or "", alias.name) for node in found for alias in node.names}


def test_type_checkers_are_told_of_the_same() -> None:
    assert EXPORTS == {name for _, name in told_to_type_checkers()}


@pytest.mark.parametrize(("module", "name"), sorted(told_to_type_checkers()))
def test_type_checkers_take_no_name_for_a_module_beside_it(module: str, name: str) -> None:
    folder = Path(str(import_module(module).__file__)).with_suffix("")
    is_package = folder.name == "__init__"
    assert not (is_package and (folder.parent / f"{name}.py").exists())
