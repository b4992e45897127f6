"""What Discord's published description of its interface (version 10, July 2026) says of the routes
that the bot uses, reduced to names: which query and body they take, and what an answer must have.

The fake holds every request and every answer of its own against them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.fakes.discord.model import Wire


@dataclass(frozen=True)
class Route:
    """`status`: of a success with a body, or 204. `answer`: one of `ANSWERS`; empty: no body."""

    status: int
    answer: str = ""
    query: str = ""
    body: str = ""
    required: str = ""
    or_nothing: bool = False
    """Whether it may also answer 204."""


_IGNORED = ("nsfw", "tts", "use_nested_fields")
"""discord.py sends them everywhere; Discord takes no notice where it doesn't know them."""
_EDITED = "allowed_mentions attachments components content embeds flags"
_POST = f"{_EDITED} poll shared_client_theme sticker_ids"
"""The first message of a post."""
_SENT = f"{_POST} enforce_nonce message_reference nonce tts"
_FOLLOW_UP = f"{_EDITED} applied_tags avatar_url poll thread_name tts username"
_COMMAND = (
    "contexts default_member_permissions description description_localizations dm_permission "
    "handler id integration_types name name_localizations options type"
)
_CHANNEL = (
    "available_tags bitrate default_auto_archive_duration default_forum_layout "
    "default_reaction_emoji default_sort_order default_tag_setting "
    "default_thread_rate_limit_per_user name nsfw parent_id permission_overwrites position "
    "rate_limit_per_user rtc_region topic type user_limit video_quality_mode"
)
_ROLE = "color colors hoist icon mentionable name permissions unicode_emoji"
_THREAD = "auto_archive_duration name rate_limit_per_user"
_COMMANDS = "/applications/{app}/guilds/{guild}/commands"
_MESSAGES = "/channels/{channel}/messages"
_ANSWERS = "/webhooks/{app}/{token}"

ROUTES: Mapping[tuple[str, str], Route] = {
    ("GET", "/users/@me"): Route(200, "self"),
    ("GET", "/oauth2/applications/@me"): Route(200, "application"),
    ("GET", "/gateway"): Route(200, "gateway"),
    ("GET", "/gateway/bot"): Route(200, "bot gateway"),
    ("PUT", _COMMANDS): Route(200, "command", body=_COMMAND, required="name"),
    ("GET", _COMMANDS): Route(200, "command", "with_localizations"),
    ("GET", "/guilds/{guild}"): Route(200, "guild", "with_counts"),
    ("GET", "/guilds/{guild}/channels"): Route(200, "channel"),
    ("POST", "/guilds/{guild}/channels"): Route(
        201, "guild channel", body=_CHANNEL, required="name"
    ),
    ("GET", "/guilds/{guild}/roles"): Route(200, "role"),
    ("POST", "/guilds/{guild}/roles"): Route(200, "role", body=_ROLE),
    ("GET", "/guilds/{guild}/threads/active"): Route(200, "threads"),
    ("GET", "/guilds/{guild}/members"): Route(200, "member", "limit after"),
    ("PATCH", "/guilds/{guild}/members/@me"): Route(200, "member", body="avatar banner bio nick"),
    ("GET", "/guilds/{guild}/members/{user}"): Route(200, "member"),
    ("PUT", "/guilds/{guild}/members/{user}/roles/{role}"): Route(204),
    ("POST", "/users/@me/channels"): Route(200, "direct", body="access_tokens nicks recipient_id"),
    ("GET", "/users/{user}"): Route(200, "somebody"),
    ("GET", "/channels/{channel}"): Route(200, "channel"),
    ("POST", _MESSAGES): Route(200, "message", body=_SENT),
    ("PATCH", f"{_MESSAGES}/{{message}}"): Route(200, "message", body=f"{_EDITED} sticker_ids"),
    ("DELETE", f"{_MESSAGES}/{{message}}"): Route(204),
    ("POST", "/channels/{channel}/threads"): Route(
        201,
        "thread",
        body=f"{_THREAD} applied_tags invitable message type",
        required="name",
    ),
    ("GET", "/channels/{channel}/threads/archived/public"): Route(200, "threads", "before limit"),
    ("POST", f"{_MESSAGES}/{{message}}/threads"): Route(
        201, "thread", body=_THREAD, required="name"
    ),
    ("POST", "/interactions/{id}/{token}/callback"): Route(
        200, "callback", "with_response", "data type", "type", or_nothing=True
    ),
    ("POST", _ANSWERS): Route(
        200, "message", "wait thread_id with_components", _FOLLOW_UP, or_nothing=True
    ),
    ("GET", f"{_ANSWERS}/messages/{{message}}"): Route(200, "message", "thread_id"),
    ("PATCH", f"{_ANSWERS}/messages/{{message}}"): Route(
        200, "message", "thread_id with_components", f"{_EDITED} poll"
    ),
    ("DELETE", f"{_ANSWERS}/messages/{{message}}"): Route(204, query="thread_id"),
}

_USER = "avatar discriminator flags global_name id public_flags username"
_GUILD = (
    "afk_channel_id afk_timeout application_id banner default_message_notifications description "
    "discovery_splash emojis explicit_content_filter features home_header icon id incidents_data "
    "max_members max_presences max_stage_video_channel_users max_video_channel_users mfa_level "
    "name nsfw nsfw_level owner_id preferred_locale premium_progress_bar_enabled "
    "premium_subscription_count premium_tier public_updates_channel_id region roles "
    "rules_channel_id safety_alerts_channel_id splash stickers system_channel_flags "
    "system_channel_id vanity_url_code verification_level widget_channel_id widget_enabled"
)
ANSWERS: Mapping[str, str] = {
    "user": _USER,
    "self": f"{_USER} locale mfa_enabled",
    "somebody": f"{_USER} primary_guild",
    "application": (
        "approximate_guild_count approximate_user_authorization_count "
        "approximate_user_install_count description eligible_oauth2_scopes "
        "explicit_content_filter flags flags_new icon id interactions_endpoint_url name owner "
        "redirect_uris role_connections_verification_url team type verify_key"
    ),
    "gateway": "url",
    "bot gateway": "session_start_limit shards url",
    "command": "application_id default_member_permissions description id name type version",
    "guild": _GUILD,
    "channel": "flags id type",
    "guild channel": "flags guild_id id name position type",
    "direct": "flags id recipients type",
    "role": (
        "color colors flags hoist icon id managed mentionable name permissions position "
        "unicode_emoji"
    ),
    "member": (
        "avatar banner communication_disabled_until deaf flags joined_at mute nick pending "
        "premium_since roles user"
    ),
    "message": (
        "attachments author channel_id components content edited_timestamp embeds flags id "
        "mention_everyone mention_roles mentions pinned timestamp tts type"
    ),
    "thread": (
        "flags guild_id id member_count message_count name owner_id thread_metadata "
        "total_message_sent type"
    ),
    "threads": "has_more members threads",
    "callback": "interaction",
    "error": "code message",
    "rate limit": "code global message retry_after",
}
"""What each must have."""
_INSIDE: Mapping[str, Mapping[str, str]] = {
    "member": {"user": "user"},
    "message": {"author": "user"},
    "threads": {"threads": "thread"},
    "direct": {"recipients": "user"},
    "guild": {"roles": "role"},
}
"""Parts of an answer that are answers themselves."""


def request_faults(method: str, path: str, query: list[str], body: object) -> list[str]:
    """How a request differs from what the route takes. A list counts by its items."""
    route = ROUTES.get((method, path))
    if route is None:
        return [f"{method} {path}: no such route"]
    found = [f"query {name}" for name in query if name not in (*route.query.split(), *_IGNORED)]
    for item in body if isinstance(body, list) else [body]:
        sent = item if isinstance(item, dict) else {}
        found += [f"body {name}" for name in sent if name not in (*route.body.split(), *_IGNORED)]
        found += [f"body without {name}" for name in route.required.split() if name not in sent]
        if path.endswith("/threads"):
            first: Wire = sent.get("message") or {}
            found += [
                f"message {name}" for name in first if name not in (*_POST.split(), *_IGNORED)
            ]
    return [f"{method} {path}: {one}" for one in found]


def answer_faults(method: str, path: str, status: int, body: object) -> list[str]:
    """What an answer of the fake lacks."""
    route = ROUTES.get((method, path))
    if route is None:
        return []
    kind = route.answer
    if status >= 400:
        kind = "rate limit" if status == 429 else "error"
    elif status == 204 and (route.or_nothing or not kind):
        return []
    elif status != route.status:
        return [f"{method} {path}: {status} for {route.status}"]
    return [f"{method} {path}: {one}" for one in lacking(kind, body)]


def lacking(kind: str, body: object) -> list[str]:
    """What an answer of a kind has to have and hasn't. A list counts by its items."""
    found = []
    for item in body if isinstance(body, list) else [body]:
        if not isinstance(item, dict):
            return [f"{kind}: {item!r}"]
        found += [f"{kind} without {name}" for name in ANSWERS[kind].split() if name not in item]
        for name, inner in _INSIDE.get(kind, {}).items():
            found += lacking(inner, item[name]) if name in item else []
    return found
