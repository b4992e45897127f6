"""What is installed, and how people are told to install it.

The import name and the command are `kernelbot`; the package isn't, because where packages are
installed from, `kernelbot` is another project. A command that installs a name alone would take
whatever has that name there, so each of ours says where the package is: a server, or a checkout.
"""

import shlex

from kernelbot import __version__

DISTRIBUTION = "kernelbot-platform"
CLIENT_PATH = "/client/"
"""Where each server serves the client that fits it."""


def wheel_name(version: str = __version__) -> str:
    """The wheel's file name."""
    return f"{DISTRIBUTION.replace('-', '_')}-{version}-py3-none-any.whl"


def wheel_url(server: str) -> str:
    """Where a server of this version serves its client. `server`: its address."""
    return f"{server.rstrip('/')}{CLIENT_PATH}{wheel_name()}"


def install_command(server: str, extra: str | None = None) -> str:
    """For a shell: installs a server's client, with one of its extras if that is named."""
    url = wheel_url(server)
    return f"pip install {shlex.quote(f'{DISTRIBUTION}[{extra}] @ {url}' if extra else url)}"


def checkout_command(extra: str) -> str:
    """What to type in a checkout for an extra that is missing, as part of a sentence."""
    return f"in a checkout, `pip install '.[{extra}]'`"
