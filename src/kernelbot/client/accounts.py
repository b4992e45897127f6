"""Accounts, tokens, invites, limits, pauses, the audit log: one method per route."""

from collections.abc import Sequence
from datetime import datetime

from kernelbot.accounts.logins.schemas import DeviceLoginView, DevicePoll, DevicePollView
from kernelbot.accounts.model import Role, User
from kernelbot.accounts.schemas import AccountList, IdentityList, Reason, RoleChange
from kernelbot.accounts.tokens.model import IssuedToken, Token
from kernelbot.accounts.tokens.schemas import NewTokenRequest, TokenList
from kernelbot.boards.invites.model import NewInvites
from kernelbot.boards.invites.schemas import (
    InviteList,
    JoinedView,
    JoinRequest,
    NewInviteRequest,
    RevokedInvite,
)
from kernelbot.boards.limits.model import LimitCategory, RateLimit
from kernelbot.boards.limits.schemas import LimitList, NewLimit
from kernelbot.boards.model import NamedBoard, Visibility
from kernelbot.boards.schemas import BoardChange
from kernelbot.client.calls import Caller, Query, part
from kernelbot.domain.errors import NotFound
from kernelbot.domain.next_steps import Next
from kernelbot.moderation.audit.schemas import AuditPage
from kernelbot.platform.model import PlatformState


class AccountCalls:
    """Part of `KernelbotClient`."""

    def users(
        self: Caller, *, search: str | None = None, limit: int = 50, after_id: int = 0
    ) -> AccountList:
        """Accounts in the order of their numbers, whose name contains `search`. For admins."""
        query = {"search": search, "limit": limit, "after_id": after_id}
        return self.ask(AccountList, "GET", "/users", query=query)

    def user_named(self: Caller, name: str) -> User:
        """The account of that name, in upper or lower case. For admins. Raises `NotFound`."""
        after_id: int | None = 0
        while after_id is not None:
            query: Query = {"search": name, "limit": 100, "after_id": after_id}
            page = self.ask(AccountList, "GET", "/users", query=query)
            for user in page.users:
                if user.name.lower() == name.lower():
                    return user
            after_id = page.next_after_id
        raise NotFound(f"There is no user named {name!r}.", next_step=Next.LIST_USERS)

    def identities(self: Caller) -> IdentityList:
        """The caller's identities at login providers."""
        return self.ask(IdentityList, "GET", "/users/me/identities")

    def unlink(self: Caller, provider: str, subject: str) -> None:
        """Remove an identity from the caller's account."""
        self.send("DELETE", f"/users/me/identities/{part(provider)}/{part(subject)}")

    def set_role(self: Caller, user_id: int, role: Role) -> User:
        """Change someone else's role. For admins."""
        body = RoleChange(role=role)
        return self.ask(User, "PUT", f"/users/{user_id}/role", body=body)

    def ban(self: Caller, user_id: int, reason: str = "") -> User:
        """Ban someone from submitting and from rankings. For admins."""
        body = Reason(reason=reason)
        return self.ask(User, "PUT", f"/users/{user_id}/ban", body=body)

    def unban(self: Caller, user_id: int) -> User:
        """End a ban. For admins."""
        return self.ask(User, "DELETE", f"/users/{user_id}/ban")

    def tokens(self: Caller) -> TokenList:
        """The caller's tokens, the newest first."""
        return self.ask(TokenList, "GET", "/tokens")

    def create_token(self: Caller, name: str, *, expires_at: datetime | None = None) -> IssuedToken:
        """Create a token; its text is in this answer only."""
        body = NewTokenRequest(name=name, expires_at=expires_at)
        return self.ask(IssuedToken, "POST", "/tokens", body=body)

    def revoke_token(self: Caller, token_id: int) -> Token:
        """Revoke a token: from now on it is invalid."""
        return self.ask(Token, "DELETE", f"/tokens/{token_id}")

    def begin_device_login(self: Caller) -> DeviceLoginView:
        """Begin a login that somebody approves in a browser; needs no token."""
        return self.ask(DeviceLoginView, "POST", "/device-logins")

    def poll_device_login(self: Caller, device_code: str) -> DevicePollView:
        """Whether somebody has approved; the token comes once."""
        body = DevicePoll(device_code=device_code)
        return self.ask(DevicePollView, "POST", "/device-logins/poll", body=body)

    def platform(self: Caller) -> PlatformState:
        """Whether submissions are taken just now."""
        return self.ask(PlatformState, "GET", "/platform")

    def pause(self: Caller, reason: str = "") -> PlatformState:
        """Take no more submissions. For admins."""
        return self.ask(PlatformState, "POST", "/platform/pause", body=Reason(reason=reason))

    def resume(self: Caller) -> PlatformState:
        """Take submissions again. For admins."""
        return self.ask(PlatformState, "POST", "/platform/resume")

    def audit(
        self: Caller,
        *,
        subject: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        limit: int = 50,
        before_id: int | None = None,
    ) -> AuditPage:
        """What organisers did, the newest first. For admins."""
        query = {
            "subject": subject,
            "actor": actor,
            "action": action,
            "limit": limit,
            "before_id": before_id,
        }
        return self.ask(AuditPage, "GET", "/audit", query=query)

    def set_visibility(self: Caller, board: str, visibility: Visibility) -> NamedBoard:
        """Who sees the board. For its organisers."""
        body = BoardChange(visibility=visibility)
        return self.ask(NamedBoard, "PATCH", f"/boards/{part(board)}", body=body)

    def set_deadline(self: Caller, board: str, deadline: datetime | None) -> NamedBoard:
        """Change or (None) remove the deadline. For its organisers."""
        body = BoardChange(deadline=deadline)
        return self.ask(NamedBoard, "PATCH", f"/boards/{part(board)}", body=body)

    def limits(self: Caller, board: str) -> LimitList:
        """How many submissions each author may make within an hour."""
        return self.ask(LimitList, "GET", f"/boards/{part(board)}/limits")

    def set_limit(
        self: Caller, board: str, category: LimitCategory, max_per_hour: int
    ) -> RateLimit:
        """Set a limit; 0: no submissions are accepted. For its organisers."""
        body = NewLimit(max_per_hour=max_per_hour)
        path = f"/boards/{part(board)}/limits/{category}"
        return self.ask(RateLimit, "PUT", path, body=body)

    def remove_limit(self: Caller, board: str, category: LimitCategory) -> None:
        """Remove a limit. For its organisers."""
        self.send("DELETE", f"/boards/{part(board)}/limits/{category}")

    def create_invites(self: Caller, boards: Sequence[str], count: int = 1) -> NewInvites:
        """Create invites, each for all of the boards. For their organisers."""
        body = NewInviteRequest(boards=list(boards), count=count)
        return self.ask(NewInvites, "POST", "/invites", body=body)

    def invites(
        self: Caller, board: str, *, unclaimed: bool = False, limit: int = 1000, offset: int = 0
    ) -> InviteList:
        """A board's invites, the newest first. For its organisers."""
        query = {"unclaimed": unclaimed, "limit": limit, "offset": offset}
        return self.ask(InviteList, "GET", f"/boards/{part(board)}/invites", query=query)

    def revoke_invite(self: Caller, code: str) -> RevokedInvite:
        """Revoke an invite; who claimed it is no longer a member. For its boards' organisers."""
        return self.ask(RevokedInvite, "DELETE", f"/invites/{part(code)}")

    def join(self: Caller, code: str) -> JoinedView:
        """Claim an invite."""
        return self.ask(JoinedView, "POST", "/invites/join", body=JoinRequest(code=code))
