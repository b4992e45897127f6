"""Accounts, tokens, invites, limits, pauses, the audit log: one method per route."""

from collections.abc import Sequence
from datetime import datetime

from kernelbot.accounts.logins.schemas import DeviceLoginView, DevicePoll, DevicePollView
from kernelbot.accounts.model import Role
from kernelbot.accounts.schemas import AccountList, AccountView, IdentityList, Reason, RoleChange
from kernelbot.accounts.tokens.schemas import IssuedTokenView, NewTokenRequest, TokenList, TokenView
from kernelbot.boards.invites.schemas import (
    InviteList,
    JoinedView,
    JoinRequest,
    NewInviteRequest,
    NewInvitesView,
    RevokedInvite,
)
from kernelbot.boards.limits.model import LimitCategory
from kernelbot.boards.limits.schemas import LimitList, LimitView, NewLimit
from kernelbot.boards.model import Visibility
from kernelbot.boards.schemas import BoardChange, BoardView
from kernelbot.client.calls import Caller, Query, part
from kernelbot.domain.errors import NotFound
from kernelbot.domain.next_steps import Next
from kernelbot.moderation.audit.schemas import AuditPage
from kernelbot.platform.schemas import PlatformView


class AccountCalls:
    """Part of `KernelbotClient`."""

    def users(
        self: Caller, *, search: str | None = None, limit: int = 50, after_id: int = 0
    ) -> AccountList:
        """Accounts in the order of their numbers, whose name contains `search`. For admins."""
        query = {"search": search, "limit": limit, "after_id": after_id}
        return self.ask(AccountList, "GET", "/users", query=query)

    def user_named(self: Caller, name: str) -> AccountView:
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

    def set_role(self: Caller, user_id: int, role: Role) -> AccountView:
        """Change someone else's role. For admins."""
        body = RoleChange(role=role)
        return self.ask(AccountView, "PUT", f"/users/{user_id}/role", body=body)

    def ban(self: Caller, user_id: int, reason: str = "") -> AccountView:
        """Ban someone from submitting and from rankings. For admins."""
        body = Reason(reason=reason)
        return self.ask(AccountView, "PUT", f"/users/{user_id}/ban", body=body)

    def unban(self: Caller, user_id: int) -> AccountView:
        """End a ban. For admins."""
        return self.ask(AccountView, "DELETE", f"/users/{user_id}/ban")

    def tokens(self: Caller) -> TokenList:
        """The caller's tokens, the newest first."""
        return self.ask(TokenList, "GET", "/tokens")

    def create_token(
        self: Caller, name: str, *, expires_at: datetime | None = None
    ) -> IssuedTokenView:
        """Create a token; its text is in this answer only."""
        body = NewTokenRequest(name=name, expires_at=expires_at)
        return self.ask(IssuedTokenView, "POST", "/tokens", body=body)

    def revoke_token(self: Caller, token_id: int) -> TokenView:
        """Revoke a token: from now on it is invalid."""
        return self.ask(TokenView, "DELETE", f"/tokens/{token_id}")

    def begin_device_login(self: Caller) -> DeviceLoginView:
        """Begin a login that somebody approves in a browser; needs no token."""
        return self.ask(DeviceLoginView, "POST", "/device-logins")

    def poll_device_login(self: Caller, device_code: str) -> DevicePollView:
        """Whether somebody has approved; the token comes once."""
        body = DevicePoll(device_code=device_code)
        return self.ask(DevicePollView, "POST", "/device-logins/poll", body=body)

    def platform(self: Caller) -> PlatformView:
        """Whether submissions are taken just now."""
        return self.ask(PlatformView, "GET", "/platform")

    def pause(self: Caller, reason: str = "") -> PlatformView:
        """Take no more submissions. For admins."""
        return self.ask(PlatformView, "POST", "/platform/pause", body=Reason(reason=reason))

    def resume(self: Caller) -> PlatformView:
        """Take submissions again. For admins."""
        return self.ask(PlatformView, "POST", "/platform/resume")

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

    def set_visibility(self: Caller, board: str, visibility: Visibility) -> BoardView:
        """Who sees the board. For its organisers."""
        body = BoardChange(visibility=visibility)
        return self.ask(BoardView, "PATCH", f"/boards/{part(board)}", body=body)

    def set_deadline(self: Caller, board: str, deadline: datetime | None) -> BoardView:
        """Change or (None) remove the deadline. For its organisers."""
        body = BoardChange(deadline=deadline)
        return self.ask(BoardView, "PATCH", f"/boards/{part(board)}", body=body)

    def limits(self: Caller, board: str) -> LimitList:
        """How many submissions each author may make within an hour."""
        return self.ask(LimitList, "GET", f"/boards/{part(board)}/limits")

    def set_limit(
        self: Caller, board: str, category: LimitCategory, max_per_hour: int
    ) -> LimitView:
        """Set a limit; 0: no submissions are accepted. For its organisers."""
        body = NewLimit(max_per_hour=max_per_hour)
        path = f"/boards/{part(board)}/limits/{category}"
        return self.ask(LimitView, "PUT", path, body=body)

    def remove_limit(self: Caller, board: str, category: LimitCategory) -> None:
        """Remove a limit. For its organisers."""
        self.send("DELETE", f"/boards/{part(board)}/limits/{category}")

    def create_invites(self: Caller, boards: Sequence[str], count: int = 1) -> NewInvitesView:
        """Create invites, each for all of the boards. For their organisers."""
        body = NewInviteRequest(boards=list(boards), count=count)
        return self.ask(NewInvitesView, "POST", "/invites", body=body)

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
