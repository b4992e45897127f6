"""The TLS settings of tests' HTTP clients, of which only few talk TLS: to read all the authorities
that the system trusts takes each client 30 ms of a processor."""

import functools
import os
import ssl

import certifi


def read_authorities_once() -> None:
    """From here on, this process reads each of the usual files of authorities once. Whoever names
    another file, or anything else, gets settings of their own."""
    usual = {certifi.where(), os.environ.get("SSL_CERT_FILE")}
    read = ssl.create_default_context

    @functools.cache
    def trusting(file: str) -> ssl.SSLContext:
        return read(cafile=file)

    @functools.wraps(read)
    def create(*arguments: object, **options: object) -> ssl.SSLContext:
        file = options.get("cafile")
        if not arguments and len(options) == 1 and isinstance(file, str) and file in usual:
            return trusting(file)
        return read(*arguments, **options)  # type: ignore[arg-type]  # they are passed on

    ssl.create_default_context = create
