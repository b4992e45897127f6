"""A platform of the suite's own: `kernelbot serve` as an operator starts it."""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.conformance.target import EXAMPLES, Outside, Target
from tests.fakes import hub, oauth_provider

START_LIMIT_S = 180.0
STOP_LIMIT_S = 60.0
SHOWN_LOG = 4000


@dataclass(frozen=True)
class _Serving:
    url: str
    token: str
    """Of the operator's own account."""


@contextmanager
def started_platform(folder: Path) -> Iterator[Target]:
    """Serve on a free port with everything under `folder`; stopped at the end."""
    with ExitStack() as stack:
        providers = {
            name: stack.enter_context(oauth_provider.fake_provider(name))
            for name in ("discord", "github")
        }
        outside = Outside(providers, stack.enter_context(hub.fake_hub()))
        yield stack.enter_context(_serving(folder, outside))


@contextmanager
def _serving(folder: Path, outside: Outside) -> Iterator[Target]:
    admin_token = secrets.token_urlsafe(24)
    environment = {
        **os.environ,
        **_settings(outside),
        "XDG_STATE_HOME": str(folder / "state"),
        "ADMIN_TOKEN": admin_token,
        "PROBLEM_DEV_DIR": str(EXAMPLES),
        # On a busy machine precision is a long time coming, and nobody ranks these numbers.
        "KERNELBOT_SAMPLING": json.dumps(
            {"wall_cap_s": 0.5, "patience_s": 3, "widest_relative_ci": 1.0}
        ),
    }
    environment.pop("DATABASE_URL", None)
    code = "from kernelbot.server.serve import serve; import sys, pathlib; "
    code += "serve(port=0, data=pathlib.Path(sys.argv[1]))"
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(folder / "data")],
            env=environment,
            cwd=folder,
            stdout=log,
            stderr=log,
        )
        try:
            serving = _wait(process, folder)
            yield Target(
                url=serving.url,
                token=_new_author(serving, "ada"),
                other_token=_new_author(serving, "bob"),
                admin_token=admin_token,
                board=None,
                poll_interval_s=0.1,
                outside=outside,
            )
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_LIMIT_S)
            # Shown where something failed while the suite was taken down.
            print((folder / "serve.log").read_text(errors="replace")[-SHOWN_LOG:])


def _settings(outside: Outside) -> dict[str, str]:
    """The environment that points a server at these services."""
    client = {
        f"CLI_{name}_CLIENT_{what}": value
        for name in ("DISCORD", "GITHUB")
        for what, value in (
            ("ID", oauth_provider.CLIENT_ID),
            ("SECRET", oauth_provider.CLIENT_SECRET),
        )
    }
    return {
        **client,
        "KERNELBOT_DISCORD_URL": outside.providers["discord"].url,
        "KERNELBOT_GITHUB_URL": outside.providers["github"].url,
        "KERNELBOT_GITHUB_API_URL": outside.providers["github"].url,
        "HF_TOKEN": hub.TOKEN,
        "KERNELBOT_EXPORT__REPOSITORY": "lab/kernels",
        "KERNELBOT_EXPORT__ENDPOINT": outside.hub.url,
    }


def _wait(process: subprocess.Popen[bytes], folder: Path) -> _Serving:
    servers = folder / "state" / "kernelbot" / "servers"
    until_s = time.monotonic() + START_LIMIT_S
    while time.monotonic() < until_s and process.poll() is None:
        for file in servers.glob("*.json"):
            found = json.loads(file.read_text())
            if _ready(found["url"]):
                return _Serving(found["url"], found["token"])
        time.sleep(0.1)
    log = (folder / "serve.log").read_text(errors="replace")
    raise AssertionError(f"the platform didn't start (exit status {process.poll()}):\n{log}")


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready/judging", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def _new_author(serving: _Serving, name: str) -> str:
    answer = httpx.post(
        f"{serving.url}/api/v1/users",
        json={"name": name},
        headers={"Authorization": f"Bearer {serving.token}"},
        timeout=60,
    )
    token = answer.raise_for_status().json()["token"]
    assert isinstance(token, str)
    return token
