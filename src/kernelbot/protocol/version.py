"""The number that says whether platform and harness speak the same protocol."""

PROTOCOL_VERSION = 1


class VersionMismatch(ValueError):
    """The other side speaks another version; the text says who should be updated."""


def check_version(theirs: object) -> None:
    """Raise `VersionMismatch` unless `theirs` is exactly `PROTOCOL_VERSION`."""
    if theirs == PROTOCOL_VERSION and type(theirs) is int:
        return
    if isinstance(theirs, int) and theirs > PROTOCOL_VERSION:
        advice = "update this side"
    else:
        advice = "update the other side"
    raise VersionMismatch(
        f"This side speaks version {PROTOCOL_VERSION} of the job protocol and was sent "
        f"version {theirs!r}: {advice}."
    )
