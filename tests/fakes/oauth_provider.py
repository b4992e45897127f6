"""Discord and GitHub on loopback, as far as OAuth goes: they check what the real ones check."""

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

CLIENT_ID = "kernelbot-app"
CLIENT_SECRET = "app-secret"
GITHUB_ERRORS = ("incorrect_client_credentials", "redirect_uri_mismatch", "bad_verification_code")
DISCORD_ERRORS = ("invalid_client", "invalid_grant", "invalid_grant")
DESCRIPTIONS = {
    "bad_verification_code": "The code passed is incorrect or expired.",
    "incorrect_client_credentials": "The client_id and/or client_secret passed are incorrect.",
    "redirect_uri_mismatch": "The redirect_uri MUST match the registered callback URL.",
}


@dataclass
class Grant:
    """What a code stands for, until it is exchanged."""

    subject: str
    name: str
    redirect_uri: str
    challenge: str


@dataclass
class FakeProvider:
    """One provider. `person` is who says yes in its page next."""

    url: str
    dialect: str
    """`github` or `discord`: they differ in paths, in types and in how they say no."""
    person: tuple[int, str] = (42, "ada")
    down: bool = False
    refuses: str | None = None
    """The error that the next exchanges are answered with, whatever they send."""
    answers_forms: bool = False
    """Tokens come as a form, as GitHub answers who accepts no JSON."""
    revokes: bool = False
    """Whether the tokens that are made are valid no more."""
    codes: dict[str, Grant] = field(default_factory=dict)
    tokens: dict[str, Grant] = field(default_factory=dict)

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser is sent once the person has said yes."""
        assert CLIENT_ID == query["client_id"]
        assert "code" == query["response_type"]
        assert "S256" == query["code_challenge_method"]
        assert self.dialect == "github" or "identify" == query["scope"]
        code = secrets.token_hex(10)
        subject, name = self.person
        self.codes[code] = Grant(str(subject), name, query["redirect_uri"], query["code_challenge"])
        return query["redirect_uri"] + "?" + urlencode({"code": code, "state": query["state"]})

    def exchange(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """A token for a code: once, for our application, the same redirect and the verifier."""
        grant = self.codes.pop(form.get("code", ""), None)
        if error := self.refuses or self._why_not(form, grant):
            description = DESCRIPTIONS.get(error, "The request was refused.")
            status = 200 if self.dialect == "github" else 401 if "client" in error else 400
            return status, {"error": error, "error_description": description}
        assert grant is not None
        token = secrets.token_hex(20)
        if not self.revokes:
            self.tokens[token] = grant
        return 200, {"access_token": token, "token_type": "bearer", "scope": ""}

    def _why_not(self, form: dict[str, str], grant: Grant | None) -> str:
        """In the words of each dialect; empty if nothing is wrong."""
        names = GITHUB_ERRORS if self.dialect == "github" else DISCORD_ERRORS
        if (CLIENT_ID, CLIENT_SECRET) != (form.get("client_id"), form.get("client_secret")):
            return names[0]
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if grant is not None and grant.redirect_uri != form.get("redirect_uri"):
            return names[1]
        known = grant is not None and grant.challenge == challenge
        return "" if known and "authorization_code" == form.get("grant_type") else names[2]

    def who(self, authorization: str) -> tuple[int, dict[str, Any]]:
        """The person a token speaks for. Discord's ids are texts, GitHub's are numbers."""
        grant = self.tokens.get(authorization.removeprefix("Bearer "))
        if grant is None:
            return 401, {"message": "401: Unauthorized"}
        if self.dialect == "github":
            return 200, {"id": int(grant.subject), "login": grant.name}
        return 200, {"id": grant.subject, "username": grant.name}


AUTHORIZE = ("/login/oauth/authorize", "/oauth2/authorize")
TOKEN = ("/login/oauth/access_token", "/api/oauth2/token")
USER = ("/user", "/api/users/@me")


@contextmanager
def fake_provider(dialect: str) -> Iterator[FakeProvider]:
    """Serves until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            if provider.down:
                self.answer(503, {})
            elif parts.path in AUTHORIZE:
                self.send_response(302)
                self.send_header("Location", provider.authorize(query))
                self.end_headers()
            elif parts.path in USER:
                self.answer(*provider.who(self.headers.get("Authorization", "")))
            else:
                self.answer(404, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            form = {key: values[0] for key, values in parse_qs(body).items()}
            if provider.down:
                self.answer(503, {})
            elif self.path in TOKEN:
                self.answer(*provider.exchange(form), as_form=provider.answers_forms)
            else:
                self.answer(404, {})

        def answer(self, status: int, body: dict[str, Any], *, as_form: bool = False) -> None:
            text = (urlencode(body) if as_form else json.dumps(body)).encode()
            kind = "x-www-form-urlencoded" if as_form else "json"
            self.send_response(status)
            self.send_header("Content-Type", f"application/{kind}")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base's name)
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = FakeProvider(f"http://127.0.0.1:{server.server_address[1]}", dialect)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), name=f"fake {dialect}")
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
