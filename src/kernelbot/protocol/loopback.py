"""Whether a URL is of this machine itself: no proxy reaches that, whatever the environment names.

Proxies are on other machines, where `localhost` is another one; or they can't be reached any more,
as where a laptop has left a company's network. Browsers ask this machine directly, too.
"""

import re
from urllib.parse import urlsplit

_OWN = re.compile(r"localhost|127(\.\d{1,3}){3}|::1", re.ASCII)


def is_loopback(url: str) -> bool:
    """False for what is no URL."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and _OWN.fullmatch(host) is not None
