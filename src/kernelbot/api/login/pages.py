"""The pages themselves, as text. Whatever comes from elsewhere is escaped here."""

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

from kernelbot.domain.accounts import Identity, Registration, Token
from kernelbot.domain.types import User
from kernelbot.identity.providers import Provider

_STYLE = """\
body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}
input,button,a.button{font:inherit;padding:.4rem .8rem}
code{background:#8882;padding:.1rem .3rem;word-break:break-all}
.code{font-size:1.4rem;letter-spacing:.1em;text-transform:uppercase}
"""


def page(title: str, body: str) -> str:
    """A whole page; `body` is HTML."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f"<h1>{escape(title)}</h1>{body}</html>"
    )


def problem(message: str, hint: str) -> str:
    """Something went wrong."""
    return page(
        "That didn't work",
        f'<p>{escape(message)} {escape(hint)}</p><p><a href="/auth/login">Log in</a></p>',
    )


def login(providers: Sequence[Provider], registration: Registration, next_path: str) -> str:
    """With whom to log in."""
    if not providers:
        return page(
            "Log in",
            "<p>This server has no login with Discord or GitHub. Ask its organisers for a "
            "token: they make one with <code>kernelbot user create NAME</code>.</p>",
        )
    invite = (
        '<p><label>Invite, if you are new: <input name="invite" maxlength="64"></label></p>'
        if registration is Registration.INVITE
        else ""
    )
    closed = "<p>No new accounts are made here.</p>" if registration is Registration.CLOSED else ""
    buttons = " ".join(
        f'<button formaction="/auth/start/{escape(one.name)}">Log in with {escape(one.title)}'
        f"</button>"
        for one in providers
    )
    hidden = f'<input type="hidden" name="next" value="{escape(next_path)}">'
    return page("Log in", f'{closed}<form method="get">{hidden}{invite}{buttons}</form>')


def account(
    user: User,
    identities: Sequence[Identity],
    tokens: Sequence[Token],
    providers: Sequence[Provider],
    csrf: str,
) -> str:
    """Who one is, how else to log in, and one's tokens."""
    linked = {identity.provider for identity in identities}
    known = ", ".join(f"{escape(i.provider)}:{escape(i.subject)}" for i in identities) or "none"
    links = "".join(
        _form(f"/auth/link/{provider.name}", csrf, f"<button>Link {provider.title}</button>")
        for provider in providers
        if provider.name not in linked
    )
    rows = "".join(f"<li>{escape(token.name)} ({token.id})</li>" for token in tokens)
    new = '<input name="name" placeholder="laptop" maxlength="100" required> '
    return page(
        f"You are {user.name}",
        f"<p>Identities: {known}</p>{links}"
        f"<h2>Tokens</h2><ul>{rows}</ul>"
        + _form("/auth/token", csrf, f"{new}<button>Make a token</button>")
        + '<p><a href="/auth/device">Log in from a terminal</a></p>'
        + _form("/auth/logout", csrf, "<button>Log out</button>"),
    )


def new_token(token: str, base_url: str) -> str:
    """The one time that a token is shown."""
    text, url = escape(token), escape(base_url)
    return page(
        "Your new token",
        f"<p>Shown this once:</p><p><code>{text}</code></p>"
        f"<p>With our own client: <code>kernelbot login {url} {text}</code></p>"
        f"<p>With popcorn-cli: write <code>cli_id: {text}</code> to <code>~/.popcorn.yaml</code> "
        f"and set <code>POPCORN_API_URL={url}</code>.</p>"
        '<p><a href="/auth/account">Back</a></p>',
    )


def device(user: User, csrf: str) -> str:
    """Where the code of a terminal is typed. It's never filled in: whoever is sent here by
    someone else has no code to type."""
    typed = '<input name="code" class="code" placeholder="XXXX-XXXX" autocomplete="off" required>'
    return page(
        "Log in from a terminal",
        f"<p>Type the code that <strong>your own</strong> terminal shows. It will then speak "
        f"for <strong>{escape(user.name)}</strong>. Never type a code that somebody sent you.</p>"
        + _form("/auth/device", csrf, f"{typed} <button>Let it</button>"),
    )


def device_done() -> str:
    """The terminal was let in."""
    return page("Done", "<p>Your terminal is logged in. You can close this page.</p>")


def login_path(next_path: str) -> str:
    """The login page that leads on to `next_path`."""
    return f"/auth/login?{urlencode({'next': next_path})}"


def _form(action: str, csrf: str, inside: str) -> str:
    hidden = f'<input type="hidden" name="csrf" value="{escape(csrf)}">'
    return f'<form method="post" action="{escape(action)}">{hidden}{inside}</form>'
