"""What a kubeconfig says of one cluster."""

import base64
import binascii
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kernelbot.domain.errors import UserError

_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_HINT = "kubectl config view --minify shows what kubectl makes of it."


class _KubeconfigPart(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Variable(_KubeconfigPart):
    name: str
    value: str


class _Exec(_KubeconfigPart):
    version: Annotated[str, Field(alias="apiVersion")]
    command: str
    args: tuple[str, ...] | None = None
    env: tuple[_Variable, ...] | None = None


class _User(_KubeconfigPart):
    token: str | None = None
    token_file: Annotated[str | None, Field(alias="tokenFile")] = None
    certificate: Annotated[str | None, Field(alias="client-certificate")] = None
    certificate_data: Annotated[str | None, Field(alias="client-certificate-data")] = None
    key: Annotated[str | None, Field(alias="client-key")] = None
    key_data: Annotated[str | None, Field(alias="client-key-data")] = None
    exec: _Exec | None = None


class _Cluster(_KubeconfigPart):
    server: Annotated[str, Field(pattern=r"^https?://[^\s?#]+$")]
    authority: Annotated[str | None, Field(alias="certificate-authority")] = None
    authority_data: Annotated[str | None, Field(alias="certificate-authority-data")] = None
    insecure: Annotated[bool, Field(alias="insecure-skip-tls-verify")] = False


class _Context(_KubeconfigPart):
    cluster: str
    user: str


class _NamedUser(_KubeconfigPart):
    name: str
    user: _User


class _NamedCluster(_KubeconfigPart):
    name: str
    cluster: _Cluster


class _NamedContext(_KubeconfigPart):
    name: str
    context: _Context


class _File(_KubeconfigPart):
    current: Annotated[str, Field(alias="current-context")] = ""
    clusters: tuple[_NamedCluster, ...] = ()
    contexts: tuple[_NamedContext, ...] = ()
    users: tuple[_NamedUser, ...] = ()


@dataclass(frozen=True)
class ExecPlugin:
    """A command that prints a token."""

    version: str
    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class Kubeconfig:
    context: str
    server: str
    verify: ssl.SSLContext | bool
    token: str = field(default="", repr=False)
    token_file: Path | None = None
    plugin: ExecPlugin | None = None


Named = TypeVar("Named", _NamedUser, _NamedCluster, _NamedContext)


def read_kubeconfig(path: Path, context: str | None = None) -> Kubeconfig:
    """The context of this name, or the file's current one. Raises `UserError`."""
    try:
        said = _File.model_validate(yaml.safe_load(path.read_text()))
    except OSError as error:
        raise _mistake(path, str(error.strerror)) from None
    except (ValueError, yaml.YAMLError) as error:
        raise _mistake(path, _first_line(error)) from None
    name = context or said.current
    used = _named(path, "context", said.contexts, name).context
    cluster = _named(path, "cluster", said.clusters, used.cluster).cluster
    user = _named(path, "user", said.users, used.user).user
    try:
        verify = _verify(path.parent, cluster, user)
    except (OSError, ValueError, binascii.Error, ssl.SSLError) as error:
        raise _mistake(path, f"its certificates can't be read: {error}") from None
    return Kubeconfig(
        name,
        cluster.server.rstrip("/"),
        verify,
        user.token or "",
        path.parent / user.token_file if user.token_file else None,
        _plugin(path, user.exec),
    )


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):  # its own words would show the values, and so tokens
        first = error.errors(include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return type(error).__name__


def _mistake(path: Path, sentence: str) -> UserError:
    return UserError(f"The kubeconfig {path} can't be used: {sentence}", hint=_HINT)


def _named(path: Path, what: str, all_of_them: tuple[Named, ...], name: str) -> Named:
    found = next((one for one in all_of_them if one.name == name), None)
    if found is None:
        raise _mistake(path, f"it has no {what} {name!r}")
    return found


def _plugin(path: Path, said: _Exec | None) -> ExecPlugin | None:
    if said is None:
        return None
    if said.version not in _VERSIONS:
        raise _mistake(path, f"its plugin speaks {said.version}, which isn't read")
    command = said.command
    if "/" in command:  # beside the file, as kubectl has it
        command = str(path.parent / command)
    variables = {one.name: one.value for one in said.env or ()}
    return ExecPlugin(said.version, command, said.args or (), variables)


def _verify(folder: Path, cluster: _Cluster, user: _User) -> ssl.SSLContext | bool:
    context = ssl.create_default_context(
        cafile=folder / cluster.authority if cluster.authority else None,
        cadata=_decoded(cluster.authority_data).decode() if cluster.authority_data else None,
    )
    if cluster.insecure:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    certificate = _decoded(user.certificate_data) or _content(folder, user.certificate)
    key = _decoded(user.key_data) or _content(folder, user.key)
    if certificate:
        with tempfile.NamedTemporaryFile() as file:  # the library reads files alone
            file.write(certificate + b"\n" + key)
            file.flush()
            context.load_cert_chain(file.name)
    return context


def _content(folder: Path, name: str | None) -> bytes:
    return (folder / name).read_bytes() if name else b""


def _decoded(text: str | None) -> bytes:
    return base64.b64decode(text, validate=True) if text else b""
