"""A suite of somebody else's is one more entry point."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from kernelbot.catalog.importing.folders import import_problems
from kernelbot.catalog.importing.suites import SUITES
from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import NotFound, UserError
from tests.support import packages

THEIRS = '''
from pathlib import Path
from kernelbot.catalog.importing.imported import ImportedProblem, SuiteReader, files_below

class Sums(SuiteReader):
    """Each file is the name of a problem that adds."""

    def find(self, path):
        return path, files_below(path, "*.sum")

    def read(self, checkout, file, largest, findings):
        if not file.read_text().strip():
            findings.error("", 1, "is empty")
            return None
        return ImportedProblem(
            name=file.stem,
            statement=f"Add {file.read_text()}.",
            skeleton=Path(__file__).parent / "their_skeleton",
            files={},
            starter="def custom_kernel(data):\\n    return data + 1\\n",
            tests=({"seed": 1},),
            benchmarks=({"seed": 2},),
        )
'''
REFERENCE = """
def generate_input(seed):
    return seed

def ref_kernel(data):
    return data + 1

def check_implementation(data, output):
    return "" if output == data + 1 else "wrong"
"""


def install(
    monkeypatch: pytest.MonkeyPatch, folder: Path, module: str = THEIRS, name: str = "Sums"
) -> None:
    packages.install(
        monkeypatch,
        folder,
        module=module,
        group=SUITES.name,
        entry=f"sums = their_package:{name}",
    )
    (folder / "their_skeleton").mkdir()
    (folder / "their_skeleton" / "reference.py.txt").write_text(REFERENCE)


def test_ours_are_installed_as_others_are() -> None:
    assert ["flashinfer-bench", "kernelbench", "tensara"] == SUITES.names()
    declared = [one for one in entry_points(group=SUITES.name) if "kernelbot" in one.value]
    assert 3 == len([SUITES.load(one.name)() for one in declared])


def test_a_suite_of_another_package_is_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, tmp_path)
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "one.sum").write_text("1 to each")
    (suite / "two.sum").write_text("")
    imported = import_problems("sums", suite, tmp_path / "out", devices=("CPU",))
    assert (tmp_path / "out" / "one",) == imported.folders
    assert ["two.sum:1: is empty"] == [str(finding) for finding in imported.refused]
    definition = load_problem(imported.folders[0]).definition
    assert ("Add 1 to each.", ("CPU",)) == (definition.description.strip(), definition.devices)


def test_the_command_knows_a_suite_of_another_package(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        install(monkeypatch, tmp_path)
        (tmp_path / "one.sum").write_text("1")
        command = [sys.executable, "-m", "kernelbot", "problem", "import", "sums", "."]
        environment = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
        ended = subprocess.run(
            [*command, "--into", "out"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert (0, "") == (ended.returncode, ended.stderr)
    assert "wrote out/one" in ended.stdout


@pytest.mark.parametrize("suite", ["", "condor", "a'; echo x", "../kernelbench", "KERNELBENCH"])
def test_an_unknown_suite_names_those_that_there_are(tmp_path: Path, suite: str) -> None:
    with pytest.raises(NotFound) as refused:
        import_problems(suite, tmp_path, tmp_path)
    assert "Installed are: flashinfer-bench, kernelbench, tensara." == refused.value.hint


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError"),
        ("", "AttributeError"),
        ("class Sums: pass", "it is no SuiteReader"),
    ],
)
def test_a_package_that_is_broken_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str, said: str
) -> None:
    install(monkeypatch, tmp_path, module)
    with pytest.raises(UserError, match=rf"The suite 'sums' can't be loaded from .*{said}"):
        import_problems("sums", tmp_path, tmp_path / "out")
