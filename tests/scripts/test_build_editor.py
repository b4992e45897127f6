"""The vendored editor is of the locked versions, and has the licences of all of it."""

import json
import re

from scripts.build_editor import BUILT, LICENCES, SOURCE


def test_the_built_file_is_of_the_locked_versions() -> None:
    locked = json.loads((SOURCE / "package-lock.json").read_text())["packages"]
    head = BUILT.read_text().split("\n", 1)[0]
    named = dict(re.findall(r"(@?[\w/.-]+) (\d+\.\d+\.\d+)", head))
    versions = {name: locked[f"node_modules/{name}"]["version"] for name in named}
    assert versions == named
    assert {"@codemirror/view", "@codemirror/merge", "style-mod"} <= set(named)


def test_each_package_in_it_has_its_licence_beside_it() -> None:
    head = BUILT.read_text().split("\n", 1)[0]
    texts = LICENCES.read_text().split("\n" + "-" * 72 + "\n\n")
    assert re.findall(r"@?[\w/.-]+ \d+\.\d+\.\d+", head) == [text.split("\n")[0] for text in texts]
    assert {True} == {"Permission is hereby granted" in text for text in texts}


def test_the_lock_file_names_no_host_and_a_hash_for_each_package() -> None:
    locked = json.loads((SOURCE / "package-lock.json").read_text())["packages"]
    named = [name for name, one in locked.items() if name and "integrity" not in one]
    assert ([], []) == (named, [name for name, one in locked.items() if "resolved" in one])


def test_the_built_file_asks_for_nothing_from_elsewhere() -> None:
    text = BUILT.read_text()
    assert [] == re.findall(r"https?://(?!www\.w3\.org/)[^\s\"'`]+|\bimport\s*[(\"']", text)
