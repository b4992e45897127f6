"""What is installed, and how people are told to install it.

The import name and the command are `kernelbot`; the package isn't, because where packages are
installed from, `kernelbot` is another project. A command that installs a name alone would take
whatever has that name there, so each of ours says where the package is: a server, or a checkout.

There are two wheels of one tree: the whole, and the client, which has only what its commands
reach. Installers replace a package by one of another version alone, so the client's version has a
label of its own: whoever has the client and installs an extra then gets the whole.
"""

import shlex

from kernelbot import __version__

DISTRIBUTION = "kernelbot-platform"
CLIENT_PATH = "/client/"
"""Where each server serves the client that fits it, and the whole."""
CLIENT_VERSION = f"{__version__}+client"
CLIENT_EXTRAS = ("mcp", "verify")
"""Those whose commands the client has; the others need the whole."""


def wheel_name(version: str = __version__) -> str:
    """A wheel's file name: by default that of the whole."""
    return f"{DISTRIBUTION.replace('-', '_')}-{version}-py3-none-any.whl"


def wheel_url(server: str, extra: str | None = None) -> str:
    """Where a server of this version serves its client, or the wheel that has an extra. `server`:
    its address."""
    is_client = extra is None or extra in CLIENT_EXTRAS
    name = wheel_name(CLIENT_VERSION) if is_client else wheel_name()
    return f"{server.rstrip('/')}{CLIENT_PATH}{name}"


def install_command(server: str, extra: str | None = None) -> str:
    """For a shell: installs a server's client, or one of the extras."""
    url = wheel_url(server, extra)
    return f"pip install {shlex.quote(f'{DISTRIBUTION}[{extra}] @ {url}' if extra else url)}"


def checkout_command(extra: str) -> str:
    """What to type in a checkout for an extra that is missing, as part of a sentence."""
    return f"in a checkout, `pip install '.[{extra}]'`"
