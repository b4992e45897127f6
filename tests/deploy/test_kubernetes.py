"""The files of `deploy/kubernetes/`, held against what Kubernetes' description says of them."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from kernelbot.launchers.kubernetes.manifest import JobMaker
from kernelbot.server.settings import read_settings
from tests.fakes.kubernetes.facts import mistakes
from tests.fakes.kubernetes.rules import refused
from tests.fakes.serving import Request, Response, serving
from tests.launchers.kubernetes.places import settings
from tests.launchers.stages import a_job

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
PLAIN = sorted(set(FOLDER.glob("*.yaml")) - {FOLDER / "kustomization.yaml"})


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


def all_of(kind: str) -> list[dict[str, Any]]:
    return [each for path in PLAIN for each in documents(path) if each["kind"] == kind]


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.stem)
def test_each_object_is_as_kubernetes_describes_it(path: Path) -> None:
    found = documents(path)
    assert [] == [told for each in found for told in mistakes(each["kind"], each)]
    assert found != []


def test_kustomize_is_given_every_file() -> None:
    (said,) = documents(FOLDER / "kustomization.yaml")
    assert [path.name for path in PLAIN] == sorted(said["resources"])
    files = [name for each in said["configMapGenerator"] for name in each["files"]]
    assert all((FOLDER / name).is_file() for name in files)


def test_no_pod_that_judges_nothing_has_a_right_on_its_node() -> None:
    for each in all_of("Deployment"):
        pod = each["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"], each["metadata"]["name"]
        for container in (*pod["containers"], *pod.get("initContainers", ())):
            assert {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": True,
            } == container["securityContext"], container["name"]


def test_the_workers_account_alone_has_rights() -> None:
    bindings = [*all_of("RoleBinding"), *all_of("ClusterRoleBinding")]
    subjects = [subject for each in bindings for subject in each["subjects"]]
    assert {("kernelbot-worker", "kernelbot")} == {(s["name"], s["namespace"]) for s in subjects}
    tokens = {
        each["metadata"]["name"]: each.get("automountServiceAccountToken")
        for each in all_of("ServiceAccount")
    }
    assert {"kernelbot-judge": False, "kernelbot-server": False, "kernelbot-worker": None} == tokens


def test_no_right_is_for_everything() -> None:
    rules = [rule for each in (*all_of("Role"), *all_of("ClusterRole")) for rule in each["rules"]]
    words = {word for rule in rules for words in rule.values() for word in words}
    assert not any("*" in word for word in words)
    secrets = [rule["verbs"] for rule in rules if "secrets" in rule["resources"]]
    assert [["create"]] == secrets


def test_what_checks_the_sandbox_has_the_rights_of_a_job() -> None:
    (check,) = documents(FOLDER / "check" / "sandbox.yaml")
    assert [] == mistakes("Pod", check)
    assert "" == refused(check["spec"])
    job = JobMaker(settings()).job_body(a_job("accepted"))["spec"]["template"]["spec"]
    rights = [
        (pod["hostUsers"], pod["automountServiceAccountToken"], pod["restartPolicy"])
        for pod in (job, check["spec"])
    ]
    assert rights[0] == rights[1]
    contexts = [pod["containers"][0]["securityContext"] for pod in (job, check["spec"])]
    assert contexts[0] == contexts[1]


def test_the_configuration_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    found = read_settings().launchers["cluster"]
    named = {each["metadata"]["name"] for each in all_of("Namespace")}
    assert found.model_dump()["namespace"] in named
    said = tomllib.loads((FOLDER / "kernelbot.toml").read_text())
    accounts = {each["metadata"]["name"] for each in all_of("ServiceAccount")}
    assert said["launchers"]["cluster"]["service_account"] in accounts


def of_the_cluster(request: Request) -> Response:
    """As much of an API server as says which kinds of objects there are."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in (each for path in PLAIN for each in documents(path)):
        name = f"{each['kind'].lower().removesuffix('y')}s"
        namespaced = "namespace" in each["metadata"]
        kind = {"name": name, "kind": each["kind"], "namespaced": namespaced, "verbs": ["create"]}
        groups.setdefault(each["apiVersion"], []).append(kind)
    path = request.path.removeprefix("/apis/").removeprefix("/api/")
    if request.path == "/api":
        answer: dict[str, Any] = {"kind": "APIVersions", "versions": ["v1"]}
    elif request.path == "/apis":
        named = [version.split("/") for version in groups if "/" in version]
        served = [
            {"name": name, "versions": [{"groupVersion": f"{name}/{version}", "version": version}]}
            for name, version in named
        ]
        answer = {"kind": "APIGroupList", "groups": served}
    elif path in groups:
        answer = {"kind": "APIResourceList", "groupVersion": path, "resources": groups[path]}
    else:
        return Response(404, b"{}", {"Content-Type": "application/json"})
    document = json.dumps({"apiVersion": "v1", **answer}).encode()
    return Response(200, document, {"Content-Type": "application/json"})


needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl")


def kubectl(home: Path, *words: str) -> str:
    """What it prints. Its own cache goes below `home`."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = subprocess.run(
        ["kubectl", *words], capture_output=True, text=True, check=False, env=environment
    )
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout


@needs_kubectl
@pytest.mark.exhaustive
def test_kustomize_builds_what_kubectl_takes(tmp_path: Path) -> None:
    copy = tmp_path / "kubernetes"
    shutil.copytree(FOLDER, copy)
    shutil.copy(FOLDER.parent / "kernelbot.env.example", copy / "kernelbot.env")
    built = tmp_path / "built.yaml"
    built.write_text(kubectl(tmp_path, "kustomize", str(copy)))
    found = documents(built)
    assert [] == [told for each in found for told in mistakes(each["kind"], each)]
    images = re.findall(r"image: (\S+)", built.read_text())
    assert {"images.example.org/kernelbot:latest"} == set(images)
    ours = [path for path in PLAIN for _ in documents(path)]
    assert len(ours) + 2 == len(found)  # a Secret and a ConfigMap


@needs_kubectl
@pytest.mark.exhaustive
def test_kubectl_takes_each_object(tmp_path: Path) -> None:
    with serving(of_the_cluster, "fake discovery") as url:
        words = ("create", "--dry-run=client", "--validate=false", f"--server={url}")
        said = kubectl(tmp_path, *words, *(f"--filename={path}" for path in PLAIN))
    ours = [each for path in PLAIN for each in documents(path)]
    assert len(ours) == said.count("created (dry run)")
