"""Rules that a reviewer would otherwise have to check in every change."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent

REGISTRY = re.compile(
    r"https?://[^\s\"']*(?:/simple\b|pypi\.org|pythonhosted\.org)|--(?:extra-)?index-url"
)
OWN_NAME = Path(__file__).relative_to(ROOT)
LOCK_LINE = re.compile(r"^[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+$")
MAX_LINES = 500
LIMIT_S = re.compile(
    r"(?:asyncio\.timeout\(|\.(?:wait|communicate|get|result)\(timeout=|\.join\(|monotonic\(\) \+ )"
    r"(\d+(?:\.\d+)?)\)?(?P<after>.*)$"
)
"""A limit that ends a test, or a part of one."""


def tracked_files() -> list[Path]:
    """Files in git's index that are there, relative to the root."""
    # A checkout may belong to another account than the one that runs the tests.
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    names = listed.stdout.decode().split("\0")
    return [Path(name) for name in names if name and (ROOT / name).is_file()]


def text_of(path: Path) -> str:
    return (ROOT / path).read_bytes().decode("utf-8", errors="replace")


def pyproject() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def files() -> list[Path]:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout, or no git to ask")
    return tracked_files()


def test_no_file_names_a_package_registry(files: list[Path]) -> None:
    named = [str(path) for path in files if path != OWN_NAME and REGISTRY.search(text_of(path))]
    assert named == []


def test_no_file_names_a_home_folder(files: list[Path]) -> None:
    personal = re.compile(r"/(?:home|Users)/[a-z][\w.-]*/|/root/\.pyenv|/work/(?:wt|main|shared)")
    named = [str(path) for path in files if path != OWN_NAME and personal.search(text_of(path))]
    assert named == []


def test_limits_of_tests_are_no_guesses_of_how_quick_a_machine_is(files: list[Path]) -> None:
    """What waits for a condition has a minute at least. A shorter limit says why on its line."""
    short = [
        f"{path}:{number}: {line.strip()}"
        for path in files
        if path.parts[0] == "tests" and path.suffix == ".py" and "corpus" not in str(path)
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if (found := LIMIT_S.search(line)) and float(found[1]) < 60 and "  # " not in line
    ]
    assert [] == short


def complaints(tool: str, paths: list[Path]) -> str:
    """What a checker of the development environment says of files."""
    command = [str(Path(sys.executable).parent / tool), *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_shell_scripts_are_clean(files: list[Path]) -> None:
    shebang = re.compile(r"#!.*\b(?:sh|bash)\n")
    scripts = [
        path
        for path in files
        if (path.suffix == ".sh" or shebang.match(text_of(path))) and "golden" not in path.parts
    ]
    assert {".ci/run", "scripts/system-packages"} <= {str(path) for path in scripts}
    assert complaints("shellcheck", scripts) == ""


def test_dockerfiles_are_clean(files: list[Path]) -> None:
    dockerfiles = [path for path in files if path.name == "Dockerfile"]
    assert {"deploy/runner/Dockerfile", "deploy/server/Dockerfile"} <= set(map(str, dockerfiles))
    assert complaints("hadolint", dockerfiles) == ""


def test_every_source_file_can_be_read_in_one_sitting(files: list[Path]) -> None:
    lengths = {str(path): text_of(path).count("\n") for path in files if path.suffix == ".py"}
    assert {name: n for name, n in lengths.items() if n > MAX_LINES} == {}


def test_locked_versions_are_exact_and_name_no_host() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not LOCK_LINE.match(line)] == []


def test_locked_packages_stand_in_order_and_once() -> None:
    names = [line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()]
    ordered = sorted(set(names), key=lambda name: re.sub(r"[-_.]+", "-", name).lower())
    assert names == ordered


def test_every_dependency_is_locked() -> None:
    project = pyproject()["project"]
    assert isinstance(project, dict)
    requirement_names = {
        re.match(r"[A-Za-z0-9._-]+", requirement)[0]  # type: ignore[index]  # always matches
        for requirement in project["dependencies"]
    }
    locked = {line.split("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}

    def normal(names: set[str]) -> set[str]:
        return {re.sub(r"[-_.]+", "-", name).lower() for name in names}

    assert normal(requirement_names) - normal(locked) == set()


def locked() -> dict[str, str]:
    """The version of each package, by its name in the form that is compared."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {canonicalize_name(name): version for name, version in (x.split("==") for x in lines)}


def test_the_locked_parts_of_cuda_are_of_one_release() -> None:
    """That of the build of torch for GPUs, which can't be installed with others. It is what a
    package index has; the builds for processors alone, as on many machines, ask for none."""
    found = locked()
    release = found["cuda-toolkit"].rpartition(".")[0].rpartition(".")[0] + "."
    parts = ("runtime", "nvcc", "crt", "nvrtc", "cccl", "cupti")
    names = [*(f"nvidia-cuda-{part}" for part in parts), "nvidia-nvvm", "nvidia-nvjitlink"]
    assert [] == [name for name in names if not found[name].startswith(release)]


def test_the_locked_torch_can_be_installed_with_what_is_locked() -> None:
    try:
        needed = [Requirement(line) for line in importlib.metadata.requires("torch") or ()]
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs torch")
    found = locked()
    if importlib.metadata.version("torch").partition("+")[0] != found["torch"]:
        pytest.skip("another torch is installed")
    asked = [one for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    refused = {
        one.name
        for one in asked
        if not one.specifier.contains(found.get(canonicalize_name(one.name), "0"))
    }
    assert set() == refused


def test_readme_commands_are_make_targets() -> None:
    commands = re.findall(r"^make ([a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert commands[:2] == ["demo", "test"]
    assert set(commands) - set(targets) == set()


def test_relative_links_of_the_docs_lead_somewhere(files: list[Path]) -> None:
    link = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")
    broken = [
        f"{page}: {target}"
        for page in files
        if page.suffix == ".md"
        for target in link.findall(text_of(page))
        if not (ROOT / page.parent / target).exists()
    ]
    assert broken == []


def test_changelog_keeps_the_agreed_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    releases = re.findall(r"^## (.*)$", text, re.MULTILINE)
    kinds = set(re.findall(r"^### (.*)$", text, re.MULTILINE))
    dated = re.compile(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d")
    assert releases[0] == "[Unreleased]"
    assert [release for release in releases[1:] if not dated.fullmatch(release)] == []
    assert kinds - {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"} == set()


def test_the_citation_names_the_current_version() -> None:
    project = pyproject()["project"]
    assert isinstance(project, dict)
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == project["version"]


def test_continuous_integration_runs_make_test_all_and_nothing_else() -> None:
    lines = (ROOT / ".ci/run").read_text().splitlines()
    commands = [line for line in lines if line and not line.startswith(("#", "set ", "cd "))]
    assert commands == [
        'scripts/system-packages "$(scripts/find-python)"',
        "make test-all",
    ]
