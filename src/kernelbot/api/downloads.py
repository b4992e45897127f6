"""Files that runs left, as answers: a browser must save them and not run them."""

from kernelbot.domain.files import RunFile, safe_name

_HARMLESS = frozenset(
    {"text/plain", "text/csv", "application/json", "application/gzip", "application/zip"}
)
"""Types that no browser runs."""


def media_type(file: RunFile) -> str:
    """Its type if it is harmless, else that of unknown bytes."""
    return file.media_type if file.media_type in _HARMLESS else "application/octet-stream"


def as_attachment(file: RunFile) -> dict[str, str]:
    """Headers that make it a download under its name."""
    return {
        "Content-Disposition": f'attachment; filename="{safe_name(file.name)}"',
        "X-Content-Type-Options": "nosniff",
    }
