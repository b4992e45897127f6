"""Fetches one commit of a git repository with the git program, which gets no secrets of ours."""

import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from kernelbot.domain.errors import InvalidProblem, Unavailable, UserError
from kernelbot.protocol.os_errors import in_words

MAX_FILES = 20_000
MAX_BYTES = 256 << 20
"""Most bytes of all files of the commit together."""
_PROTOCOLS = ("https", "http", "ssh", "git", "file")
_FROM_OUTSIDE = (
    *("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
    *("no_proxy", "NO_PROXY"),  # without it the proxy would be asked for hosts that it can't reach
    "SSH_AUTH_SOCK",
)
"""The variables that git has of ours: those by which it finds a proxy. It reads no HTTP_PROXY."""
_SHORT = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_URL = re.compile(rf"(?:{'|'.join(_PROTOCOLS)})://[^\s\x00-\x1f\x7f]+", re.IGNORECASE)
_SCP = re.compile(r"[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\s\x00-\x1f\x7f]+")
_AUTHORITY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^/?#]*)@(.*)", re.DOTALL)
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@-]{0,199}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_MAX_LISTED = 16 << 20
"""Bytes of a listing: folders can refer to each other so often that it never ends."""
_GLANCE_S = 0.2
_SIZE_FIELD = 3  # of `git ls-tree -l`: mode, type, hash, size


@dataclass(frozen=True)
class GitLimits:
    """How long a fetch may take, and how large a file git may write."""

    timeout_s: float = 100.0
    file_mib: int = 512


def repository_url(text: str) -> str:
    """The URL a person means: any that git accepts, or `owner/name` on GitHub.

    Raises `UserError`, also for addresses that git would read as an option or a program to run.
    """
    text = text.strip()
    if _SHORT.fullmatch(text):
        return f"https://github.com/{text}.git"
    if _URL.fullmatch(text) or _SCP.fullmatch(text):
        return text
    raise UserError(
        f"{without_password(text)!r} isn't a repository's address.",
        hint=f"Write a URL with {', '.join(_PROTOCOLS)}, or owner/name for GitHub.",
    )


def without_password(address: str) -> str:
    """The address without credentials, as it may be shown, stored and logged."""
    return _split(address)[0]


def _split(address: str) -> tuple[str, str]:
    """An address without its credentials, and a line with them for git's credential store, empty
    if there are none. A user name alone may be a token too, except with SSH, which needs it."""
    found = _AUTHORITY.match(address)
    if found is None:
        return address, ""
    scheme, secret, rest = found.groups()
    if scheme.lower() not in ("http://", "https://"):
        name = secret.partition(":")[0]
        return f"{scheme}{name}@{rest}", ""
    name, _, password = secret.replace("@", "%40").partition(":")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    return f"{scheme}{rest}", f"{scheme.lower()}{name}:{password}@{host}\n"


def fetch(
    url: str,
    ref: str | None,
    folder: Path,
    limits: GitLimits | None = None,
    over: threading.Event | None = None,
) -> str:
    """Bring one branch, tag or commit (None: the default branch) into `folder/checkout`; returns
    the commit. Blocks, but soon not any more once `over` is set.

    No hooks, submodules, filters, prompts or settings of the machine. Raises `UserError` for what
    can't be a reference or isn't there, `Unavailable` if it takes too long or is over, and
    `InvalidProblem` for a commit beyond the limits.
    """
    wanted = ref or "HEAD"
    if not _REF.fullmatch(wanted) or ".." in wanted or wanted.endswith(".lock"):
        raise UserError(f"{wanted!r} isn't a branch, a tag or a commit.")
    url, credentials = _split(url)
    git = _Git(folder, limits or GitLimits(), credentials, over or threading.Event())
    git.run("init", "--quiet")
    failed = git.attempt("fetch", "--quiet", "--depth=1", "--no-tags", "--", url, wanted)
    if failed and _COMMIT.fullmatch(wanted):
        # Not every server sends a commit by its hash: then everything is fetched and searched.
        failed = git.attempt("fetch", "--quiet", "--no-tags", "--", url, "+refs/*:refs/remotes/x/*")
        commit = wanted
    else:
        commit = "FETCH_HEAD"
    if failed:
        raise UserError(
            f"{wanted} can't be fetched from {url}: {failed}",
            hint="Is the address right, and is there anything in the repository?",
        )
    _check_size(git.run("ls-tree", "-r", "-l", "-z", commit, max_bytes=_MAX_LISTED))
    git.run("checkout", "--quiet", "--detach", commit)
    return git.run("rev-parse", "HEAD").strip()


class _Git:
    def __init__(
        self, folder: Path, limits: GitLimits, credentials: str, over: threading.Event
    ) -> None:
        self._over = over
        self._checkout = folder / "checkout"
        self._checkout.mkdir()
        self._limits = limits
        settings = folder / "gitconfig"
        # The machine's own settings are ignored. A repository on this disk may belong to anyone.
        settings.write_text(
            "[safe]\n\tdirectory = *\n[uploadpack]\n\tallowAnySHA1InWant = true\n"
            "[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n"
            "[protocol]\n\text = never\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n"
        )
        if credentials:
            # In a file, because all accounts of the machine can read a command line.
            store = folder / "credentials"
            store.touch(mode=0o600)
            store.write_text(credentials)
            with settings.open("a") as opened:
                opened.write(f"[credential]\n\thelper = \"store --file='{store}'\"\n")
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(settings),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "false",
            "GIT_ALLOW_PROTOCOL": ":".join(_PROTOCOLS),
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=10",
        } | {key: value for key in _FROM_OUTSIDE if (value := os.environ.get(key))}

    def run(self, *arguments: str, max_bytes: int | None = None) -> str:
        """What git prints, or its beginning. Raises `InvalidProblem` with its last words when it
        fails."""
        code, out, err = self._start(*arguments, max_bytes=max_bytes)
        if code or (max_bytes and err and not out):  # `head` ends well in any case
            last = next(reversed(_lines(err)), "")
            raise InvalidProblem(f"git {arguments[0]} failed: {last}")
        return out

    def attempt(self, *arguments: str) -> str:
        """Why it fails, as the first line of git's error output says; else an empty text."""
        code, _, err = self._start(*arguments)
        return (_first_words(err) or f"exit code {code}") if code else ""

    def _start(self, *arguments: str, max_bytes: int | None = None) -> tuple[int, str, str]:
        # The shell sets a limit that git and its helpers inherit; blocks of 512 bytes.
        limit = f"ulimit -f {self._limits.file_mib << 11}; "
        limit += f'git "$@" | head -c {max_bytes}' if max_bytes else 'exec git "$@"'
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", limit, "git", *arguments],
                cwd=self._checkout,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise Unavailable(
                f"git can't be started: {in_words(error)}", hint="Is it installed?"
            ) from None
        try:
            out, err = self._followed(process, arguments[0])
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        return process.returncode, out, err

    def _followed(self, process: "subprocess.Popen[str]", name: str) -> tuple[str, str]:
        """What it prints until its end. Raises `Unavailable` if that doesn't come."""
        give_up_s = time.monotonic() + self._limits.timeout_s
        while not self._over.is_set():
            try:
                return process.communicate(timeout=_GLANCE_S)
            except subprocess.TimeoutExpired:
                if time.monotonic() > give_up_s:
                    raise Unavailable(
                        f"git {name} took longer than {self._limits.timeout_s:g} s.",
                        hint="Try again, or upload an archive.",
                    ) from None
        raise Unavailable(f"git {name} was stopped: nobody waits for it any more.")


def _check_size(listing: str) -> None:
    if len(listing) >= _MAX_LISTED:
        raise InvalidProblem(f"The repository is too large: at most {MAX_FILES:,} files are taken.")
    entries = [entry.split(None, _SIZE_FIELD + 1) for entry in listing.split("\0") if entry]
    sizes = [int(entry[_SIZE_FIELD]) for entry in entries if entry[_SIZE_FIELD].isdigit()]
    if len(entries) > MAX_FILES or sum(sizes) > MAX_BYTES:
        raise InvalidProblem(
            f"The repository is too large: {len(entries):,} files with "
            f"{sum(sizes) >> 20:,} MiB; at most {MAX_FILES:,} with {MAX_BYTES >> 20} MiB are taken."
        )


def _first_words(text: str) -> str:
    """The reason: below it git advises in several lines. Warnings come above it."""
    lines = _lines(text)
    reasons = [line for line in lines if not line.lower().startswith("warning: ")]
    return next(iter([*reasons, *lines]), "")


def _lines(text: str) -> list[str]:
    lines = (line.strip().removeprefix("fatal: ")[:300] for line in text.splitlines())
    return [line for line in lines if line]
