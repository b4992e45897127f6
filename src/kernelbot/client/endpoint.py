"""Which server to use, and with which token.

Server: an explicit URL, `KERNELBOT_URL`, `POPCORN_API_URL`, the one of the last `login`, a
`kernelbot serve` of this account on this machine, `http://127.0.0.1:8000`.
Token: `KERNELBOT_TOKEN`, the one kept by `login` for that server, `cli_id` in
`~/.popcorn.yaml`, the one that a `kernelbot serve` of this account left for that server.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from urllib.parse import urlsplit

from kernelbot.domain.errors import UserError
from kernelbot.protocol.late import dataclass

DEFAULT_URL = "http://127.0.0.1:8000"
_LOCAL = "the local server"


@dataclass(frozen=True)
class Endpoint:
    """A server's base URL without a slash at the end, and a token or None. `token_from` and
    `url_from` say where these were found; empty if nowhere. `others`: the other servers that this
    account has logged in to or runs here."""

    url: str
    token: str | None = field(repr=False)
    token_from: str = ""
    url_from: str = field(default="", compare=False)
    others: tuple[str, ...] = field(default=(), compare=False)

    @property
    def has_local_token(self) -> bool:
        """Whether a `kernelbot serve` of this account left the token, which ends with it."""
        return self.token_from == _LOCAL


@dataclass(frozen=True)
class ClientFiles:
    """The files that are read."""

    config: Path
    servers: Path
    popcorn: Path

    @classmethod
    def usual(cls) -> "ClientFiles":
        """The files of this account."""
        import platformdirs  # here: a help or a mistake needs none of them

        return cls(
            config=platformdirs.user_config_path("kernelbot") / "config.toml",
            servers=platformdirs.user_state_path("kernelbot") / "servers",
            popcorn=Path.home() / ".popcorn.yaml",
        )


@dataclass(frozen=True)
class _Config:
    """What `login` keeps."""

    url: str | None
    tokens: dict[str, str]


@dataclass(frozen=True)
class LocalServer:
    """A `kernelbot serve` of this account that runs on this machine. `data`: the folder of its
    embedded database; None if it has another, or is of an older release. `public_url`: where
    others reach it; None if that isn't configured."""

    url: str
    token: str = field(repr=False)
    data: Path | None = None
    public_url: str | None = None


def find_endpoint(
    url: str | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    places: ClientFiles | None = None,
) -> Endpoint:
    """The server and token by the order above. Raises `UserError` for a URL that isn't one, or a
    broken configuration file."""
    places = places or ClientFiles.usual()
    config = _read_config(places.config)
    local = _local_servers(places.servers)
    candidates = (
        (url, "--url"),
        (environ.get("KERNELBOT_URL"), "KERNELBOT_URL"),
        (environ.get("POPCORN_API_URL"), "POPCORN_API_URL"),
        (config.url, str(places.config)),
        (local[0].url if local else None, _LOCAL),
    )
    named = ((candidate, source) for candidate, source in candidates if candidate)
    found, url_from = next(named, (DEFAULT_URL, ""))
    server = normal_url(found)
    tokens = (
        (environ.get("KERNELBOT_TOKEN"), "KERNELBOT_TOKEN"),
        (config.tokens.get(server), str(places.config)),
        (_popcorn_token(places.popcorn), str(places.popcorn)),
        (next((one.token for one in local if one.url == server), None), _LOCAL),
    )
    token, source = next(((token, source) for token, source in tokens if token), (None, ""))
    known = {*config.tokens, *(one.url for one in local)} - {server}
    return Endpoint(server, token, source, url_from, tuple(sorted(known)))


def find_local_server(url: str, places: ClientFiles | None = None) -> LocalServer | None:
    """The account's `kernelbot serve` that answers at `url`; None if there is none."""
    servers = _local_servers((places or ClientFiles.usual()).servers)
    return next((server for server in servers if server.url == url), None)


def url_for_others(url: str, places: ClientFiles | None = None) -> str:
    """The address to hand on of the server at `url`: its configured one if it runs here, where it
    may be asked at an address that only this machine reaches."""
    server = find_local_server(url, places)
    return (server and server.public_url) or url


def remember(url: str, token: str, places: ClientFiles | None = None) -> Path:
    """Keep a token for a server, and use this server by default; returns the file, which only
    this account can read. Raises `UserError` if it can't be written."""
    path = (places or ClientFiles.usual()).config
    server = normal_url(url)
    _write_config(path, _Config(server, {**_read_config(path).tokens, server: token}))
    return path


def forget(url: str, places: ClientFiles | None = None) -> bool:
    """Delete what `remember` kept of a server; returns whether there was anything."""
    path = (places or ClientFiles.usual()).config
    config = _read_config(path)
    server = normal_url(url)
    if server != config.url and server not in config.tokens:
        return False
    tokens = {key: token for key, token in config.tokens.items() if key != server}
    _write_config(path, _Config(None if server == config.url else config.url, tokens))
    return True


def _write_config(path: Path, config: _Config) -> None:
    lines = [f"url = {_toml(config.url)}", ""] if config.url else []
    lines += ["[tokens]"]
    lines += [f"{_toml(key)} = {_toml(value)}" for key, value in config.tokens.items()]
    draft = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        draft.replace(path)
    except OSError as error:  # a home that nobody may write in, or a file in the folder's place
        raise UserError(
            f"{path} can't be written: {error.strerror}.",
            hint="Instead of logging in, KERNELBOT_URL and KERNELBOT_TOKEN say the same.",
        ) from None


def normal_url(url: str) -> str:
    """Without spaces around it and slashes at its end. Raises `UserError` for what isn't the
    http(s) address of a host."""
    trimmed = url.strip().rstrip("/")
    if not trimmed.startswith(("http://", "https://")):
        raise UserError(f"{url!r} is not a server's URL: it begins with http:// or https://.")
    try:
        parts = urlsplit(trimmed)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port beyond 65535, or half of the brackets of an IPv6 address
        named = False
    if not named:
        raise UserError(f"{url!r} has no host or an invalid port.")
    return trimmed


def _toml(text: str) -> str:
    return json.dumps(text)  # a JSON string is a TOML basic string


def _read_config(path: Path) -> _Config:
    if not path.exists():
        return _Config(None, {})
    import tomllib  # here, because whoever uses a server of their own has no such file

    try:
        found = tomllib.loads(
            path.read_text("utf-8-sig")
        )  # editors of Windows begin it with a mark
    except FileNotFoundError:
        return _Config(None, {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"{path} can't be read: {why}.", hint="Correct or remove it.") from None
    url, tokens = found.get("url"), found.get("tokens", {})
    if not isinstance(tokens, dict) or not isinstance(url, str | None):
        raise UserError(f"{path}: `url` is a text, `tokens` a table.", hint="Correct or remove it.")
    return _Config(url, {str(key): str(value) for key, value in tokens.items()})


def _local_servers(folder: Path) -> list[LocalServer]:
    """The local servers that run, the latest started first."""
    try:
        files = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    except FileNotFoundError:  # one that stopped just now
        return []
    servers = (local_server(file) for file in files)
    return [server for server in servers if server is not None]


def local_server(file: Path) -> LocalServer | None:
    """The server that left the file; None: it has ended, or the file isn't one."""
    try:
        found = json.loads(file.read_text("utf-8"))
        url, token, pid = str(found["url"]), str(found["token"]), int(found["pid"])
        data = Path(found["data"]) if found.get("data") else None
        public_url = str(found["public_url"]).rstrip("/") if found.get("public_url") else None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # half written, or gone: counts as no server
    # Its number may be another process's by now; the lock on its data ends with it.
    runs = _is_alive(pid) and (data is None or _is_locked(data))
    return LocalServer(url.rstrip("/"), token, data, public_url) if runs else None


def _is_alive(pid: int) -> bool:
    """Whether there is a process with that id, of any account."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_locked(data: Path) -> bool:
    """Whether a process has locked the data folder, as `serve` does; also if that can't be told."""
    import fcntl  # here, because only systems that can serve are sure to have it

    try:
        descriptor = os.open(data / "serve.lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:  # shared: two who look at the same time don't take each other for the server
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _popcorn_token(path: Path) -> str | None:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    import yaml  # here, because hardly anyone has this file and reading it costs start-up time

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return None  # another program's file: that program reports what is wrong with it
    token = found.get("cli_id") if isinstance(found, dict) else None
    return str(token) if token else None
