"""Where the servers of the terminal listen."""

import errno
import socket

from kernelbot.domain.errors import UserError
from kernelbot.protocol.os_errors import in_words

BACKLOG = 2048


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A listener. `port` 0: any that is free. `shared`: others of this account may share the port.
    Raises `UserError`, which names the option that has to be another one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG, reuse_port=shared)
    except (OSError, OverflowError) as error:
        # Of a name that means no address the number is negative, and the class is lost.
        number = getattr(error, "errno", None) or 0
        no_host = number < 0 or number == errno.EADDRNOTAVAIL
        raise UserError(
            f"Can't listen on {host} port {port}: {in_words(error)}.",
            hint=f"Choose another with {'--host' if no_host else '--port'}.",
        ) from None
