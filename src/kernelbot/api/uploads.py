"""Files that come in forms."""

from fastapi import UploadFile


def file_name(file: UploadFile) -> str:
    """The name as the person's disk has it: forms write these three characters as %XX."""
    sent = file.filename or ""
    for escaped, character in (("%22", '"'), ("%0A", "\n"), ("%0D", "\r")):
        sent = sent.replace(escaped, character)
    return sent
