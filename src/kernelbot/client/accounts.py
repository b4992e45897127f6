"""Accounts, tokens, invites, limits, pauses, the audit log: one method per route."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from kernelbot.client.calls import Query, Request, Steps, ask, described, in_steps, part, send
from kernelbot.domain.errors import NotFound
from kernelbot.domain.next_steps import Next

if TYPE_CHECKING:
    from kernelbot.accounts.answers import AccountList, IdentityList
    from kernelbot.accounts.logins.answers import DeviceLoginView, DevicePollView, LoginLink
    from kernelbot.accounts.model import AuthorPage, Role, User
    from kernelbot.accounts.tokens.answers import TokenList
    from kernelbot.accounts.tokens.model import IssuedToken, Token
    from kernelbot.boards.invites.answers import InviteList, JoinedView, RevokedInvite
    from kernelbot.boards.invites.model import NewInvites
    from kernelbot.boards.limits.answers import LimitList
    from kernelbot.boards.limits.model import LimitCategory, RateLimit
    from kernelbot.boards.model import NamedBoard, Visibility
    from kernelbot.moderation.audit.schemas import AuditPage
    from kernelbot.platform.model import PlatformState


class AccountCalls:
    """Part of the clients."""

    @described
    def users(
        self, *, search: str | None = None, limit: int = 50, after_id: int = 0
    ) -> Request[AccountList]:
        """Accounts in the order of their numbers, whose name contains `search`. For admins."""
        from kernelbot.accounts.answers import AccountList

        query = {"search": search, "limit": limit, "after_id": after_id}
        return ask(AccountList, "GET", "/users", query=query)

    @in_steps
    def user_named(self, name: str) -> Steps[User]:
        """The account of that name, in upper or lower case. For admins. Raises `NotFound`."""
        from kernelbot.accounts.answers import AccountList

        after_id: int | None = 0
        while after_id is not None:
            query: Query = {"search": name, "limit": 100, "after_id": after_id}
            page: AccountList = yield ask(AccountList, "GET", "/users", query=query)
            for user in page.users:
                if user.name.lower() == name.lower():
                    return user
            after_id = page.next_after_id
        raise NotFound(f"There is no user named {name!r}.", next_step=Next.LIST_USERS)

    @described
    def identities(self) -> Request[IdentityList]:
        """The caller's identities at login providers."""
        from kernelbot.accounts.answers import IdentityList

        return ask(IdentityList, "GET", "/users/me/identities")

    @described
    def unlink(self, provider: str, subject: str) -> Request[None]:
        """Remove an identity from the caller's account."""
        return send("DELETE", f"/users/me/identities/{part(provider)}/{part(subject)}")

    @described
    def author_page(self) -> Request[AuthorPage]:
        """How the caller's page as an author is shown."""
        from kernelbot.accounts.model import AuthorPage

        return ask(AuthorPage, "GET", "/users/me/author-page")

    @described
    def set_author_page(self, private: bool) -> Request[AuthorPage]:
        """Make the caller's page as an author private, or show it to others."""
        from kernelbot.accounts.model import AuthorPage
        from kernelbot.accounts.schemas import AuthorPageChange

        body = AuthorPageChange(private=private)
        return ask(AuthorPage, "PUT", "/users/me/author-page", body=body)

    @described
    def set_role(self, user_id: int, role: Role) -> Request[User]:
        """Change someone else's role. For admins."""
        from kernelbot.accounts.model import User
        from kernelbot.accounts.schemas import RoleChange

        body = RoleChange(role=role)
        return ask(User, "PUT", f"/users/{user_id}/role", body=body)

    @described
    def ban(self, user_id: int, reason: str = "") -> Request[User]:
        """Ban someone from submitting and from rankings. For admins."""
        from kernelbot.accounts.model import User
        from kernelbot.accounts.schemas import Reason

        body = Reason(reason=reason)
        return ask(User, "PUT", f"/users/{user_id}/ban", body=body)

    @described
    def unban(self, user_id: int) -> Request[User]:
        """End a ban. For admins."""
        from kernelbot.accounts.model import User

        return ask(User, "DELETE", f"/users/{user_id}/ban")

    @described
    def tokens(self) -> Request[TokenList]:
        """The caller's tokens, the newest first."""
        from kernelbot.accounts.tokens.answers import TokenList

        return ask(TokenList, "GET", "/tokens")

    @described
    def create_token(
        self, name: str, *, expires_at: datetime | None = None
    ) -> Request[IssuedToken]:
        """Create a token; its text is in this answer only."""
        from kernelbot.accounts.tokens.model import IssuedToken
        from kernelbot.accounts.tokens.schemas import NewTokenRequest

        body = NewTokenRequest(name=name, expires_at=expires_at)
        return ask(IssuedToken, "POST", "/tokens", body=body)

    @described
    def revoke_token(self, token_id: int) -> Request[Token]:
        """Revoke a token: from now on it is invalid."""
        from kernelbot.accounts.tokens.model import Token

        return ask(Token, "DELETE", f"/tokens/{token_id}")

    @described
    def make_login_link(self) -> Request[LoginLink]:
        """A link that logs one browser in as the caller, once."""
        from kernelbot.accounts.logins.answers import LoginLink

        return ask(LoginLink, "POST", "/login-links")

    @described
    def begin_device_login(self) -> Request[DeviceLoginView]:
        """Begin a login that somebody approves in a browser; needs no token."""
        from kernelbot.accounts.logins.answers import DeviceLoginView

        return ask(DeviceLoginView, "POST", "/device-logins")

    @described
    def poll_device_login(self, device_code: str) -> Request[DevicePollView]:
        """Whether somebody has approved; the token comes once."""
        from kernelbot.accounts.logins.answers import DevicePollView
        from kernelbot.accounts.logins.schemas import DevicePoll

        body = DevicePoll(device_code=device_code)
        return ask(DevicePollView, "POST", "/device-logins/poll", body=body)

    @described
    def platform(self) -> Request[PlatformState]:
        """Whether submissions are taken just now."""
        from kernelbot.platform.model import PlatformState

        return ask(PlatformState, "GET", "/platform")

    @described
    def pause(self, reason: str = "") -> Request[PlatformState]:
        """Take no more submissions. For admins."""
        from kernelbot.accounts.schemas import Reason
        from kernelbot.platform.model import PlatformState

        return ask(PlatformState, "POST", "/platform/pause", body=Reason(reason=reason))

    @described
    def resume(self) -> Request[PlatformState]:
        """Take submissions again. For admins."""
        from kernelbot.platform.model import PlatformState

        return ask(PlatformState, "POST", "/platform/resume")

    @described
    def audit(
        self,
        *,
        subject: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        limit: int = 50,
        before_id: int | None = None,
    ) -> Request[AuditPage]:
        """What organisers did, the newest first. For admins."""
        from kernelbot.moderation.audit.schemas import AuditPage

        query = {
            "subject": subject,
            "actor": actor,
            "action": action,
            "limit": limit,
            "before_id": before_id,
        }
        return ask(AuditPage, "GET", "/audit", query=query)

    @described
    def set_visibility(self, board: str, visibility: Visibility) -> Request[NamedBoard]:
        """Who sees the board. For its organisers."""
        from kernelbot.boards.model import NamedBoard
        from kernelbot.boards.schemas import BoardChange

        body = BoardChange(visibility=visibility)
        return ask(NamedBoard, "PATCH", f"/boards/{part(board)}", body=body)

    @described
    def set_deadline(self, board: str, deadline: datetime | None) -> Request[NamedBoard]:
        """Change or (None) remove the deadline. For its organisers."""
        from kernelbot.boards.model import NamedBoard
        from kernelbot.boards.schemas import BoardChange

        body = BoardChange(deadline=deadline)
        return ask(NamedBoard, "PATCH", f"/boards/{part(board)}", body=body)

    @described
    def limits(self, board: str) -> Request[LimitList]:
        """How many submissions each author may make within an hour."""
        from kernelbot.boards.limits.answers import LimitList

        return ask(LimitList, "GET", f"/boards/{part(board)}/limits")

    @described
    def set_limit(
        self, board: str, category: LimitCategory, max_per_hour: int
    ) -> Request[RateLimit]:
        """Set a limit; 0: no submissions are accepted. For its organisers."""
        from kernelbot.boards.limits.model import RateLimit
        from kernelbot.boards.limits.schemas import NewLimit

        body = NewLimit(max_per_hour=max_per_hour)
        path = f"/boards/{part(board)}/limits/{category}"
        return ask(RateLimit, "PUT", path, body=body)

    @described
    def remove_limit(self, board: str, category: LimitCategory) -> Request[None]:
        """Remove a limit. For its organisers."""
        return send("DELETE", f"/boards/{part(board)}/limits/{category}")

    @described
    def create_invites(self, boards: Sequence[str], count: int = 1) -> Request[NewInvites]:
        """Create invites, each for all of the boards. For their organisers."""
        from kernelbot.boards.invites.model import NewInvites
        from kernelbot.boards.invites.schemas import NewInviteRequest

        body = NewInviteRequest(boards=tuple(boards), count=count)
        return ask(NewInvites, "POST", "/invites", body=body)

    @described
    def invites(
        self, board: str, *, unclaimed: bool = False, limit: int = 1000, offset: int = 0
    ) -> Request[InviteList]:
        """A board's invites, the newest first. For its organisers."""
        from kernelbot.boards.invites.answers import InviteList

        query = {"unclaimed": unclaimed, "limit": limit, "offset": offset}
        return ask(InviteList, "GET", f"/boards/{part(board)}/invites", query=query)

    @described
    def revoke_invite(self, code: str) -> Request[RevokedInvite]:
        """Revoke an invite; who claimed it is no longer a member. For its boards' organisers."""
        from kernelbot.boards.invites.answers import RevokedInvite

        return ask(RevokedInvite, "DELETE", f"/invites/{part(code)}")

    @described
    def join(self, code: str) -> Request[JoinedView]:
        """Claim an invite."""
        from kernelbot.boards.invites.answers import JoinedView
        from kernelbot.boards.invites.schemas import JoinRequest

        return ask(JoinedView, "POST", "/invites/join", body=JoinRequest(code=code))
