from pathlib import Path

import pytest

from kernelbot.catalog.fields import DefinitionFindings
from kernelbot.catalog.sources import Checkout


def read(checkout: Checkout, source: str) -> tuple[str | None, list[str]]:
    findings = DefinitionFindings("task.yml")
    text = checkout.read(source, "files[0].source", 1, findings)
    return text, [finding.message for finding in findings.errors]


def test_the_root_is_the_git_checkout(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a" / "b" / "c" / "d" / "e").mkdir(parents=True)
    assert tmp_path == Checkout.around(tmp_path / "a" / "b" / "c" / "d" / "e", None).root


def test_without_git_the_root_is_beside_the_competition_file(tmp_path: Path) -> None:
    (tmp_path / "set" / "problem").mkdir(parents=True)
    (tmp_path / "spring.yaml").touch()
    assert tmp_path == Checkout.around(tmp_path / "set" / "problem", None).root


def test_a_lone_folder_is_its_own_root(tmp_path: Path) -> None:
    (tmp_path / "problem").mkdir()
    assert tmp_path / "problem" == Checkout.around(tmp_path / "problem", None).root


@pytest.mark.parametrize("source", ["x\0y", "a/" * 3000, "loop"])
def test_odd_paths_are_findings(tmp_path: Path, source: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    text, messages = read(Checkout.around(tmp_path, tmp_path), source)
    assert (None, 1) == (text, len(messages))


def test_a_link_inside_the_checkout_is_followed(tmp_path: Path) -> None:
    (tmp_path / "problem").mkdir()
    (tmp_path / "shared.py").write_text("x = 1\n")
    (tmp_path / "problem" / "link.py").symlink_to("../shared.py")
    assert ("x = 1\n", []) == read(Checkout.around(tmp_path / "problem", tmp_path), "link.py")
