"""The pages themselves, as text. Whatever comes from elsewhere is escaped here."""

from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

from kernelbot.domain.accounts import Identity, Registration, Token
from kernelbot.domain.types import User
from kernelbot.identity.providers import Provider

_STYLE = """\
:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}
input,button,a.button{font:inherit;padding:.4rem .8rem}
h2{font-size:1.1rem;margin-top:2rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
td{border-bottom:1px solid #8884;padding:.4rem .8rem .4rem 0;white-space:nowrap}
td:first-child{white-space:normal;overflow-wrap:anywhere}
@media(max-width:32rem){td{white-space:normal}}
td:last-child{text-align:right;padding-right:0}
code{background:#8882;padding:.1rem .3rem;word-break:break-all}
pre{background:#8882;padding:.4rem .8rem;white-space:pre-wrap;word-break:break-all}
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
    """The page for an error."""
    return page(
        "That didn't work",
        f'<p>{escape(message)} {escape(hint)}</p><p><a href="/auth/account">Continue</a></p>',
    )


def login(providers: Sequence[Provider], registration: Registration, next_path: str) -> str:
    """The page with the login providers."""
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
    closed = "<p>New accounts are not allowed.</p>" if registration is Registration.CLOSED else ""
    buttons = " ".join(
        f'<button formaction="/auth/start/{escape(one.name)}">Log in with {escape(one.title)}'
        f"</button>"
        for one in providers
    )
    hidden = _hidden("next", next_path)
    return page("Log in", f'{closed}<form method="get">{hidden}{invite}{buttons}</form>')


def account(
    user: User,
    identities: Sequence[Identity],
    tokens: Sequence[Token],
    providers: Sequence[Provider],
    csrf: str,
) -> str:
    """The account page: name, identities and tokens."""
    linked = {identity.provider for identity in identities}
    known = "".join(_identity_row(identity, csrf) for identity in identities)
    links = "".join(
        _form(f"/auth/link/{provider.name}", csrf, f"<button>Link {provider.title}</button>")
        for provider in providers
        if provider.name not in linked
    )
    rows = "".join(_token_row(token, csrf) for token in tokens)
    typed = '<input name="name" placeholder="your name" maxlength="64" autocomplete="off" required>'
    new = '<input name="name" placeholder="laptop" maxlength="100" required> '
    return page(
        f"You are {user.name}",
        f"<h2>You log in with</h2><table>{known}</table>{links}"
        f"<h2>Tokens</h2><table>{rows}</table>"
        + _form("/auth/token", csrf, f"{new}<button>Make a token</button>")
        + '<p><a href="/auth/device">Log in from a terminal</a></p>'
        + "<h2>This browser</h2>"
        + _form("/auth/logout", csrf, "<button>Log out</button>")
        + "<h2>Delete the account</h2><p>Your tokens, your submissions and your places in the "
        "rankings are deleted with it. This can't be undone.</p>"
        + _form("/auth/delete", csrf, f"{typed} <button>Delete it</button>"),
    )


def _identity_row(identity: Identity, csrf: str) -> str:
    hidden = _hidden("provider", identity.provider) + _hidden("subject", identity.subject)
    unlink = _form("/auth/unlink", csrf, f"{hidden}<button>Unlink</button>")
    name = f"{escape(identity.provider)}:{escape(identity.subject)}"
    return f"<tr><td>{name}<td>since {identity.created_at:%Y-%m-%d}<td>{unlink}"


def _token_row(token: Token, csrf: str) -> str:
    until = "never expires" if token.expires_at is None else f"until {token.expires_at:%Y-%m-%d}"
    hidden = _hidden("token_id", str(token.id))
    revoke = _form("/auth/revoke", csrf, f"{hidden}<button>Revoke</button>")
    name = escape(token.name)
    return f"<tr><td>{name}<td>since {token.created_at:%Y-%m-%d}<td>{until}<td>{revoke}"


def deleted(name: str) -> str:
    """The page after an account was deleted."""
    text = f"<p>The account {escape(name)} is deleted, with its submissions and tokens.</p>"
    return page("Deleted", text)


def new_token(token: str, base_url: str) -> str:
    """The page that shows a new token, only this time."""
    text, url = escape(token), escape(base_url)
    return page(
        "Your new token",
        f"<p>Shown only now:</p><pre>{text}</pre>"
        f"<p>With our own client:</p><pre>kernelbot login {url} {text}</pre>"
        f"<p>With popcorn-cli: write the line</p><pre>cli_id: {text}</pre>"
        f"<p>to <code>~/.popcorn.yaml</code>, and then</p>"
        f"<pre>export POPCORN_API_URL={url}</pre>"
        '<p><a href="/auth/account">Back</a></p>',
    )


def device(user: User, csrf: str) -> str:
    """The page to type a terminal's code in. The code is never filled in: a person who was sent
    here by someone else has no code to type."""
    typed = '<input name="code" class="code" placeholder="XXXX-XXXX" autocomplete="off" required>'
    return page(
        "Log in from a terminal",
        f"<p>Type the code that <strong>your own</strong> terminal shows. It will then act as "
        f"<strong>{escape(user.name)}</strong>. Never type a code that somebody sent you.</p>"
        + _form("/auth/device", csrf, f"{typed} <button>Log in the terminal</button>"),
    )


def device_done() -> str:
    """The page after a terminal was logged in."""
    return page("Done", "<p>Your terminal is logged in. You can close this page.</p>")


def login_path(next_path: str) -> str:
    """The login page that leads on to `next_path`."""
    return f"/auth/login?{urlencode({'next': next_path})}"


def _form(action: str, csrf: str, inside: str) -> str:
    return f'<form method="post" action="{escape(action)}">{_hidden("csrf", csrf)}{inside}</form>'


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{escape(value)}">'
