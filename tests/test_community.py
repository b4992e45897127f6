"""What a visitor of the repository finds: forms, continuous integration, how to cite it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_repository import pyproject

ROOT = Path(__file__).parent.parent
FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"
COMMIT = re.compile(r"actions/[\w-]+@[0-9a-f]{40}")


def project() -> dict[str, Any]:
    found = pyproject()["project"]
    assert isinstance(found, dict)
    return found


@pytest.fixture
def codemeta() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "codemeta.json").read_text())
    return found


def test_codemeta_says_what_the_citation_says(codemeta: dict[str, Any]) -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    names = [author["name"] for author in codemeta["author"]]
    assert cited == {
        "cff-version": "1.2.0",
        "message": cited["message"],
        "type": "software",
        "title": codemeta["name"],
        "version": codemeta["version"],
        "license": codemeta["license"].rpartition("/")[2],
        "abstract": codemeta["description"],
        "authors": [{"name": name} for name in names],
        "keywords": codemeta["keywords"],
    }


def test_codemeta_says_what_the_package_says(codemeta: dict[str, Any]) -> None:
    found = project()
    assert (found["name"], found["version"], f"Python {found['requires-python']}") == (
        codemeta["identifier"],
        codemeta["version"],
        codemeta["runtimePlatform"],
    )


def test_codemeta_points_at_files_that_are_there(codemeta: dict[str, Any]) -> None:
    assert [] == [
        name for name in ("readme", "softwareHelp") if not (ROOT / codemeta[name]).is_file()
    ]


def test_continuous_integration_runs_what_anybody_runs() -> None:
    workflow = yaml.load((ROOT / ".github/workflows/ci.yml").read_text(), yaml.BaseLoader)
    (job,) = workflow["jobs"].values()
    assert ({"contents": "read"}, ".ci/run") == (workflow["permissions"], job["steps"][-1]["run"])
    assert {"push", "pull_request"} == set(workflow["on"])
    assert [] == [
        step for step in job["steps"] if "uses" in step and not COMMIT.fullmatch(step["uses"])
    ]


@pytest.mark.parametrize("name", ["bug.yml", "problem.yml", "idea.yml"])
def test_each_form_asks_something_that_must_be_answered(name: str) -> None:
    form = yaml.safe_load((FORMS / name).read_text())
    fields = [one for one in form["body"] if one["type"] != "markdown"]
    ids = [one["id"] for one in fields]
    required = [one for one in fields if one.get("validations", {}).get("required")]
    assert (True, len(ids)) == (bool(form["name"] and form["description"]), len(set(ids)))
    assert required != []
