"""Addresses that pages lead to."""

from urllib.parse import quote, urlencode


def login_path(next_path: str) -> str:
    """The login page that leads on to `next_path`."""
    return f"/auth/login?{urlencode({'next': next_path})}"


def board_path(board: str) -> str:
    return f"/board/{quote(board, safe='')}"


def author_path(author_id: int) -> str:
    """An author's page: by number, since a name may hold what no path can, and may change."""
    return f"/author/{author_id}"


def organised_path(board: str) -> str:
    return f"/organise/board/{quote(board, safe='')}"
