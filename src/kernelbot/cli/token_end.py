"""Telling people that the token of their terminal ends soon, once a day."""

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernelbot.cli.terminal import Terminal
    from kernelbot.client import KernelbotClient
    from kernelbot.client.endpoint import Endpoint

_WITHIN = timedelta(days=7)


def warn_once_a_day(client: "KernelbotClient", endpoint: "Endpoint", terminal: "Terminal") -> None:
    """Tell whoever sits at the terminal if the token ends within a week. Asks the server once a
    day; if that fails, or it can't be noted that it was asked, nothing is said."""
    if terminal.as_json or endpoint.token is None or endpoint.has_local_token:
        return
    now = datetime.now(UTC)
    if not sys.stderr.isatty() or not is_first_today(endpoint.url, now):
        return
    from kernelbot.domain.errors import KernelbotError

    try:
        ends_at = client.me().token_expires_at
    except KernelbotError:  # the command itself went well
        return
    if words := warning(endpoint.url, ends_at, now):
        terminal.progress(words)


def warning(url: str, ends_at: datetime | None, now: datetime) -> str:
    """What is said of a token; empty: nothing."""
    from kernelbot.render.time_left import ends_soon, time_left

    if ends_at is None or not ends_soon(ends_at, now, _WITHIN):
        return ""
    return (
        f"! Your token for {url} ends in {time_left(ends_at, now)}, and so do those that it makes. "
        "Make another one on the account's page, and then: kernelbot login"
    )


def is_first_today(url: str, now: datetime, path: Path | None = None) -> bool:
    """Whether nothing was asked today of the server; from now on it was. False as well if that
    can't be noted. `path`: where; None: in the account's folder."""
    if path is None:
        import platformdirs

        path = platformdirs.user_state_path("kernelbot") / "token-ends.json"
    today = now.date().isoformat()
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):  # there is none yet, or it is half written
        found = {}
    asked = found if isinstance(found, dict) else {}
    if asked.get(url) == today:
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**asked, url: today}), "utf-8")
    except OSError:
        return False
    return True
