"""By what a cluster knows us, and what is said if that can't be had."""

import base64
import json
import ssl
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kernelbot.domain.errors import PlatformError, UserError
from kernelbot.launchers.base import JobState
from kernelbot.launchers.kubernetes import KubernetesLauncher
from kernelbot.launchers.kubernetes.credentials import (
    HOST,
    KUBECONFIG,
    PORT,
    ClusterCredentials,
    FileToken,
    FixedToken,
    PluginToken,
    find_credentials,
)
from kernelbot.launchers.kubernetes.kubeconfig import ExecPlugin
from tests.fakes.kubernetes import TOKEN
from tests.launchers.kubernetes.places import a_cluster, settings
from tests.launchers.stages import a_job, started
from tests.launchers.test_contract import over
from tests.support.certificates import Authority

SERVER = "https://k.example:6443/"
V1 = "client.authentication.k8s.io/v1"
PRINTS = """
import json, os, sys
asked = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
token = f"{sys.argv[1]} {asked['apiVersion'][-2:]} {os.environ['MINE']} {'SECRET' in os.environ}"
print(json.dumps({"kind": "ExecCredential", "status": {"token": token}}))
"""
COUNTS = """
import json
number = int(count.read_text()) + 1 if count.exists() else 1
count.write_text(str(number))
print(json.dumps({"status": {"token": f"t{number}"}}))
"""


def write(folder: Path, user: Any, cluster: Any = None, **changes: Any) -> Path:
    document = {
        "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": SERVER, **(cluster or {})}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}],
        "users": [{"name": "me", "user": user}],
        **changes,
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return path


async def headers(found: ClusterCredentials) -> dict[str, str]:
    return dict(await found.token.headers())


async def test_a_token_of_the_file(tmp_path: Path) -> None:
    found = find_credentials({}, write(tmp_path, {"token": "t0ken"}))
    assert ("https://k.example:6443", {"Authorization": "Bearer t0ken"}) == (
        found.server,
        await headers(found),
    )
    assert "t0ken" not in repr(found)


async def test_it_is_read_again_once_it_is_refused(tmp_path: Path) -> None:
    found = find_credentials({}, write(tmp_path, {"token": "first"}))
    write(tmp_path, {"token": "second"})
    kept = await headers(found)
    found.token.refused()
    assert ["Bearer first", "Bearer second"] == [
        each["Authorization"] for each in (kept, await headers(found))
    ]


async def test_no_other_context_of_the_file_is_used_then(tmp_path: Path) -> None:
    """Whoever works on this machine may choose another one meanwhile."""
    found = find_credentials({}, write(tmp_path, {"token": "first"}))
    mine = {"name": "me", "user": {"token": "second"}}
    theirs = {"name": "you", "user": {"token": "theirs"}}
    contexts = [
        {"name": "lab", "context": {"cluster": "lab", "user": "me"}},
        {"name": "other", "context": {"cluster": "lab", "user": "you"}},
    ]
    changes: dict[str, Any] = {"current-context": "other", "contexts": contexts}
    write(tmp_path, {}, users=[mine, theirs], **changes)
    found.token.refused()
    assert {"Authorization": "Bearer second"} == await headers(found)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("k.example", "m.example", "has another server now"),
        ("token: second", "x: y", "or no token"),
        ("name: ", ": [", "can't be used"),
    ],
)
async def test_a_file_that_says_something_else_is_told(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    found = find_credentials({}, write(tmp_path, {"token": "first"}))
    path = write(tmp_path, {"token": "second"})
    path.write_text(path.read_text().replace(before, after))
    found.token.refused()
    with pytest.raises(PlatformError, match=said):
        await headers(found)


async def test_the_variable_names_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, {"token": "t0ken"})
    found = find_credentials({KUBECONFIG: str(path)})
    assert {"Authorization": "Bearer t0ken"} == await headers(found)


async def test_a_named_context_is_used(tmp_path: Path) -> None:
    contexts = [{"name": "other", "context": {"cluster": "lab", "user": "you"}}]
    users = [{"name": "you", "user": {"token": "yours"}}]
    path = write(tmp_path, {}, contexts=contexts, users=users)
    found = find_credentials({HOST: "10.0.0.1"}, path, "other")
    assert {"Authorization": "Bearer yours"} == await headers(found)


async def test_a_file_with_a_token_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    found = find_credentials({}, write(tmp_path, {"tokenFile": "token"}))
    before = await headers(found)
    (tmp_path / "token").write_text("second\n")
    kept = await headers(found)
    found.token.refused()
    assert ["Bearer first", "Bearer first", "Bearer second"] == [
        each["Authorization"] for each in (before, kept, await headers(found))
    ]


async def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match="token can't be read"):
        await FileToken(tmp_path / "none").headers()


@pytest.mark.exhaustive
async def test_a_token_that_was_replaced_is_taken_at_once(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old")
    async with a_cluster(tmp_path) as kubernetes:
        token = FileToken(tmp_path / "token")
        credentials = ClusterCredentials(kubernetes.url, token)
        await token.headers()
        (tmp_path / "token").write_text(TOKEN)
        async with started(KubernetesLauncher(settings(), credentials, None)) as launcher:
            outcome = await over(launcher, await launcher.launch(a_job("accepted")))
    assert JobState.FINISHED == outcome.state


async def test_a_plugin_is_asked_for_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "of the platform's")
    plugin = {
        "apiVersion": V1,
        "command": sys.executable,
        "args": ["-c", PRINTS, "a'; echo x"],
        "env": [{"name": "MINE", "value": "yes"}],
    }
    found = find_credentials({}, write(tmp_path, {"exec": plugin}))
    assert {"Authorization": "Bearer a'; echo x v1 yes False"} == await headers(found)


@pytest.mark.exhaustive
async def test_a_plugin_is_asked_again_once_its_token_is_refused(tmp_path: Path) -> None:
    count = tmp_path / "count"
    program = f"import pathlib\ncount = pathlib.Path({str(count)!r})\n{COUNTS}"
    token = PluginToken(ExecPlugin(V1, sys.executable, ("-c", program), {}))
    first = [await token.headers() for _ in range(2)]
    token.refused()
    assert [*first, await token.headers()] == [
        {"Authorization": f"Bearer t{number}"} for number in (1, 1, 2)
    ]


async def test_a_plugin_that_fails_leaves_the_token_until_it_is_refused(tmp_path: Path) -> None:
    count = tmp_path / "count"
    program = f"import pathlib\ncount = pathlib.Path({str(count)!r})\n{COUNTS}"
    program = f"{program}if number > 1: raise SystemExit('the cloud is away')"
    token = PluginToken(ExecPlugin(V1, sys.executable, ("-c", program), {}), renew_s=0)
    found = [await token.headers() for _ in range(3)]
    assert [{"Authorization": "Bearer t1"}] * 3 == found
    assert "3" == count.read_text()
    token.refused()
    with pytest.raises(PlatformError, match="the cloud is away"):
        await token.headers()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("raise SystemExit('no login')", "gave no token for the cluster: no login"),
        ("print('<html>')", "gave no token"),
        ("print('{}')", "gave no token"),
        ('print(\'{"status": {"token": ""}}\')', "gave no token"),
        ('print(\'{"status": {"clientCertificateData": "x"}}\')', "certificates of plugins"),
    ],
)
@pytest.mark.exhaustive
async def test_a_plugin_that_has_no_token_is_told(command: str, said: str) -> None:
    token = PluginToken(ExecPlugin(V1, sys.executable, ("-c", command), {}))
    with pytest.raises(PlatformError, match=said):
        await token.headers()


async def test_a_plugin_that_is_not_there_is_told() -> None:
    with pytest.raises(PlatformError, match="can't be started"):
        await PluginToken(ExecPlugin(V1, "no-such-plugin", (), {})).headers()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "can't be used"),
        ("{", "can't be used"),
        ("- a\n", "can't be used"),
        ("clusters: 3\n", "clusters"),
        ("current-context: lab\n", "has no context 'lab'"),
        ("\x00", "can't be used"),
    ],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(UserError, match=said):
        find_credentials({}, path)


@pytest.mark.parametrize(
    ("user", "cluster", "said"),
    [
        ({"token": ["s3cret"]}, {}, "users.0.user.token"),
        ({}, {"server": "k.example"}, "clusters.0.cluster.server"),
        ({}, {"certificate-authority": "none.crt"}, "certificates can't be read"),
        ({}, {"certificate-authority-data": "####"}, "certificates can't be read"),
        ({"client-certificate-data": "bm9uZQ=="}, {}, "certificates can't be read"),
        ({"exec": {"apiVersion": "v9", "command": "x"}}, {}, "speaks v9, which isn't read"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(
    tmp_path: Path, user: Any, cluster: Any, said: str
) -> None:
    with pytest.raises(UserError, match=said) as caught:
        find_credentials({}, write(tmp_path, user, cluster))
    assert "s3cret" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        find_credentials({}, tmp_path / "none")


async def test_a_pod_finds_its_own(tmp_path: Path, authority: Authority) -> None:
    (tmp_path / "ca.crt").write_bytes(authority.certificate)
    (tmp_path / "token").write_text("of the pod")
    found = find_credentials({HOST: "fd00::1", PORT: "6443"}, service_account=tmp_path)
    assert ("https://[fd00::1]:6443", {"Authorization": "Bearer of the pod"}) == (
        found.server,
        await headers(found),
    )


def test_a_pod_without_an_account_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"ca\.crt"):
        find_credentials({HOST: "10.0.0.1"}, service_account=tmp_path)


@pytest.mark.parametrize("named", [False, True])
def test_certificates_are_read_from_files_and_from_the_file_itself(
    tmp_path: Path, authority: Authority, named: bool
) -> None:
    parts = {
        "certificate-authority": authority.certificate,
        "client-certificate": authority.client_certificate,
        "client-key": authority.client_key,
    }
    said: dict[str, str] = {}
    for name, content in parts.items():
        (tmp_path / name).write_bytes(content)
        said |= {name: name} if named else {f"{name}-data": base64.b64encode(content).decode()}
    cluster = {name: text for name, text in said.items() if "authority" in name}
    user = {name: text for name, text in said.items() if "client" in name}
    verify = find_credentials({}, write(tmp_path, user, cluster)).verify
    assert isinstance(verify, ssl.SSLContext)
    subjects = [one["subject"] for one in verify.get_ca_certs()]
    assert [((("commonName", "cluster"),),)] == subjects


async def test_a_certificate_alone_sends_no_token() -> None:
    assert {} == await FixedToken().headers()
    assert "x" not in json.dumps(repr(FixedToken("x"))).replace("FixedToken", "")


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.make("cluster")
