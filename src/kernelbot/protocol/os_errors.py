"""What the system says of a failure, for people."""


def in_words(error: BaseException) -> str:
    """The error's text. Of an `OSError` without its number, which is for logs: what failed, and the
    file if it was about one."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error) or type(error).__name__
    return error.strerror if error.filename is None else f"{error.strerror}: {error.filename}"
