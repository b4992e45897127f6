"""Each vendored file is of the locked versions, and has the licences of all of it."""

import json
import re

import pytest
from scripts.build_chart import CHART
from scripts.build_editor import EDITOR
from scripts.bundles import Bundle

bundles = pytest.mark.parametrize("bundle", [EDITOR, CHART], ids=["editor", "chart"])


def named_in(bundle: Bundle) -> dict[str, str]:
    """The packages that the file's first line names, with their versions."""
    head = bundle.built.read_text().split("\n", 1)[0]
    return dict(re.findall(r"(@?[\w/.-]+) (\d+\.\d+\.\d+)", head))


@bundles
def test_the_built_file_is_of_the_locked_versions(bundle: Bundle) -> None:
    locked = json.loads((bundle.source / "package-lock.json").read_text())["packages"]
    named = named_in(bundle)
    versions = {name: locked[f"node_modules/{name}"]["version"] for name in named}
    assert versions == named


@pytest.mark.parametrize(
    ("bundle", "packages"),
    [(EDITOR, {"@codemirror/view", "@codemirror/merge", "style-mod"}), (CHART, {"uplot"})],
)
def test_what_pages_use_is_in_it(bundle: Bundle, packages: set[str]) -> None:
    assert packages <= set(named_in(bundle))


def test_the_styles_of_the_chart_are_of_the_same_version() -> None:
    heads = [file.read_text().split("\n", 1)[0] for file in (CHART.built, CHART.styled)]
    assert heads[0] == heads[1]


@bundles
def test_each_package_in_it_has_its_licence_beside_it(bundle: Bundle) -> None:
    head = bundle.built.read_text().split("\n", 1)[0]
    texts = bundle.licences.read_text().split("\n" + "-" * 72 + "\n\n")
    assert re.findall(r"@?[\w/.-]+ \d+\.\d+\.\d+", head) == [text.split("\n")[0] for text in texts]
    assert {True} == {"Permission is hereby granted" in text for text in texts}


@bundles
def test_the_lock_file_names_no_host_and_a_hash_for_each_package(bundle: Bundle) -> None:
    locked = json.loads((bundle.source / "package-lock.json").read_text())["packages"]
    named = [name for name, one in locked.items() if name and "integrity" not in one]
    assert ([], []) == (named, [name for name, one in locked.items() if "resolved" in one])


@bundles
def test_the_built_file_asks_for_nothing_from_elsewhere(bundle: Bundle) -> None:
    text = bundle.built.read_text()
    assert [] == re.findall(r"https?://(?!www\.w3\.org/)[^\s\"'`]+|\bimport\s*[(\"']", text)
