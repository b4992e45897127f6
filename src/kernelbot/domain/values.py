"""Frozen dataclasses that are a row, what the nouns compute with, and JSON at once."""


def described(text: str) -> dict[str, str]:
    """Metadata of a field (`field(metadata=described(...))`): its description in the documentation
    of the API. It says "null" for None."""
    return {"description": text}
