"""By what a cluster knows us: an address, its certificate, and a token that may change."""

import asyncio
import json
import os
import ssl
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import structlog
from pydantic import ValidationError

from kernelbot.domain.errors import PlatformError, UserError
from kernelbot.launchers.kubernetes.kubeconfig import ExecPlugin, Kubeconfig, read_kubeconfig
from kernelbot.launchers.rest.client import SchedulerAnswer
from kernelbot.protocol.environment import passed_on

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a pod finds its own token."""
HOST, PORT, KUBECONFIG = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBECONFIG"
_FILE_FOR_S = 60.0
"""A token's file is read again after that: the kubelet replaces it every hour."""
_PLUGIN_FOR_S = 300.0
"""A plugin that doesn't say when its token ends is asked again after that. Its own time isn't
looked at: its clock and ours may differ, and a token that has ended is noticed anyway."""
_AGAIN_S = 30.0
"""When a token that couldn't be had anew is asked for again."""
_PLUGIN_LIMIT_S = 30.0
_MAX_PLUGIN_BYTES = 1 << 20
_LAST_WORDS = 300
_OF_PLUGINS = ("AWS_", "AZURE_", "AAD_", "CLOUDSDK_", "GOOGLE_", "OCI_")
"""How the variables begin by which clouds' plugins know who we are."""
log = structlog.get_logger()


class BearerToken(Protocol):
    async def headers(self) -> Mapping[str, str]:
        """The headers that a request needs. Raises `PlatformError` if there are none."""

    def refused(self) -> None:
        """The cluster doesn't accept it: the next time it is to be had anew."""


@dataclass(frozen=True)
class FixedToken:
    """A token that stays. Empty: the certificate says who we are."""

    value: str = field(default="", repr=False)

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.value}"} if self.value else {}

    def refused(self) -> None:
        """There is no other."""


class KubeconfigToken:
    """A token that stands in a kubeconfig itself, which somebody may replace before it ends."""

    def __init__(self, path: Path, found: Kubeconfig) -> None:
        """`found`: what the file said."""
        self._path = path
        self._found = found
        self._is_refused = False

    async def headers(self) -> Mapping[str, str]:
        """The token; the file is read again if that was refused."""
        if self._is_refused:
            self._found = await asyncio.to_thread(self._read_again)
            self._is_refused = False
        return {"Authorization": f"Bearer {self._found.token}"}

    def refused(self) -> None:
        """Read the file again the next time."""
        self._is_refused = True

    def _read_again(self) -> Kubeconfig:
        """Nobody else's server is sent the token, nor ours another's."""
        before = self._found
        try:
            found = read_kubeconfig(self._path, before.context)
        except UserError as error:
            raise PlatformError(str(error)) from None
        if found.server != before.server or not found.token:
            raise PlatformError(
                f"The context {before.context!r} of {self._path} has another server now, or no "
                "token: start the worker again."
            )
        return found


class RenewedToken(ABC):
    """A token that is had anew from time to time. If that fails, the one before goes on until the
    cluster refuses it: whatever hands it out may be away for less time than it is valid."""

    def __init__(self, renew_s: float) -> None:
        self._renew_s = renew_s
        self._renew_at = float("-inf")
        self._value = ""
        """Empty: there is none that might be accepted."""
        self._asking = asyncio.Lock()

    @abstractmethod
    async def _ask(self) -> str:
        """A token. Raises `PlatformError` if it can't be had."""

    async def headers(self) -> Mapping[str, str]:
        """The token, had anew after `renew_s`."""
        async with self._asking:
            if time.monotonic() >= self._renew_at:
                await self._renew()
            return {"Authorization": f"Bearer {self._value}"}

    async def _renew(self) -> None:
        try:
            self._value = await self._ask()
        except PlatformError as error:
            if not self._value:
                raise
            log.warning("token_not_renewed", error=str(error))
            self._renew_at = time.monotonic() + min(_AGAIN_S, self._renew_s)
        else:
            self._renew_at = time.monotonic() + self._renew_s

    def refused(self) -> None:
        """Have another the next time."""
        self._renew_at, self._value = float("-inf"), ""


class FileToken(RenewedToken):
    """A token in a file that somebody replaces from time to time."""

    def __init__(self, path: Path) -> None:
        super().__init__(_FILE_FOR_S)
        self._path = path

    async def _ask(self) -> str:
        try:
            return (await asyncio.to_thread(self._path.read_text)).strip()
        except (OSError, ValueError) as error:
            raise PlatformError(f"The cluster's token can't be read: {error}") from None


class _ExecStatus(SchedulerAnswer):
    token: str | None = None


class _ExecCredential(SchedulerAnswer):
    status: _ExecStatus


class PluginToken(RenewedToken):
    """A token that a command prints, which the kubeconfig names."""

    def __init__(self, plugin: ExecPlugin, renew_s: float = _PLUGIN_FOR_S) -> None:
        super().__init__(renew_s)
        self._plugin = plugin

    async def _ask(self) -> str:
        said = await self._output()
        try:
            token = _ExecCredential.model_validate_json(said).status.token
        except ValidationError:
            token = None
        if not token:
            raise PlatformError(
                f"{self._plugin.command} gave no token for the cluster; certificates of plugins "
                "aren't read."
            )
        return token

    async def _output(self) -> bytes:
        plugin = self._plugin
        info = {
            "apiVersion": plugin.version,
            "kind": "ExecCredential",
            "spec": {"interactive": False},
        }
        environment = {
            **passed_on(os.environ),
            **{n: value for n, value in os.environ.items() if n.startswith(_OF_PLUGINS)},
            "HOME": str(Path.home()),
            **plugin.environment,
            "KUBERNETES_EXEC_INFO": json.dumps(info),
        }
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command,
                *plugin.arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                limit=_MAX_PLUGIN_BYTES,
            )
        except (OSError, ValueError) as error:
            raise PlatformError(f"{plugin.command} can't be started: {error}") from None
        try:
            async with asyncio.timeout(_PLUGIN_LIMIT_S):
                output, errors = await process.communicate()
        except TimeoutError:
            raise PlatformError(
                f"{plugin.command} gave no token for the cluster within {_PLUGIN_LIMIT_S:.0f} s."
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode != 0:
            said = errors.decode("utf-8", "replace").strip()[-_LAST_WORDS:]
            raise PlatformError(f"{plugin.command} gave no token for the cluster: {said}")
        return output


@dataclass(frozen=True)
class ClusterCredentials:
    """How one cluster is reached, and as whom."""

    server: str
    """Its URL."""
    token: BearerToken
    verify: ssl.SSLContext | bool = True
    """By what its certificate is checked, and with what ours is shown."""


def find_credentials(
    environment: Mapping[str, str],
    kubeconfig: Path | None = None,
    context: str | None = None,
    service_account: Path = SERVICE_ACCOUNT,
) -> ClusterCredentials:
    """The credentials of the kubeconfig, if it is given; else those of the pod that this process
    runs in; else those of the file that KUBECONFIG names, or of ~/.kube/config. Raises
    `UserError`."""
    if kubeconfig is None and context is None and environment.get(HOST):
        return _of_the_pod(environment, service_account)
    named = kubeconfig or Path(environment.get(KUBECONFIG) or "~/.kube/config")
    found = read_kubeconfig(named.expanduser(), context)
    token: BearerToken = FixedToken()
    if found.token_file is not None:
        token = FileToken(found.token_file)
    elif found.plugin is not None:
        token = PluginToken(found.plugin)
    elif found.token:
        token = KubeconfigToken(named.expanduser(), found)
    return ClusterCredentials(found.server, token, found.verify)


def _of_the_pod(environment: Mapping[str, str], folder: Path) -> ClusterCredentials:
    host, port = environment[HOST], environment.get(PORT, "443")
    try:
        verify = ssl.create_default_context(cafile=folder / "ca.crt")
    except (OSError, ssl.SSLError) as error:
        raise UserError(
            f"The cluster's certificate can't be read from {folder / 'ca.crt'}: {error}",
            hint="Give the worker's pod a service account, or the launcher a kubeconfig.",
        ) from None
    shown = f"[{host}]" if ":" in host else host
    return ClusterCredentials(f"https://{shown}:{port}", FileToken(folder / "token"), verify)
