"""What to do next, in one word: for programs, and for doors that each have their own sentence."""

from enum import StrEnum


class Next(StrEnum):
    """What an error asks a person to do. Each door has one table from these words to its own
    sentence; a client passes over a word that it doesn't know."""

    TRY_AGAIN = "try_again"
    """The same again, in a moment."""
    BEGIN_AGAIN = "begin_again"
    """What was shown before is out of date: look at it anew, then ask again."""
    LOG_IN = "log_in"
    ASK_ADMIN = "ask_admin"
    ASK_ORGANISERS = "ask_organisers"
    CHOOSE_ANOTHER_NAME = "choose_another_name"
    NAME_BOARD = "name_board"
    LIST_BOARDS = "list_boards"
    LIST_SUBMISSIONS = "list_submissions"
    SHOW_SUBMISSION = "show_submission"
    CANCEL_SUBMISSION = "cancel_submission"
    """Wait for one of the asker's submissions to end, or cancel one."""
    LIST_ARTIFACTS = "list_artifacts"
    LIST_USERS = "list_users"
    LIST_IDENTITIES = "list_identities"
    LIST_TOKENS = "list_tokens"
    REVOKE_TOKENS = "revoke_tokens"
    LIST_INVITES = "list_invites"
    LIST_WEBHOOKS = "list_webhooks"
    DELETE_WEBHOOKS = "delete_webhooks"
    """There are too many."""
    REPLACE_WEBHOOK = "replace_webhook"
    """The error names one that is the same; it is deleted first if its secret is lost."""
    ENABLE_WEBHOOK = "enable_webhook"
    SHOW_WEBHOOK_LOG = "show_webhook_log"
    LIST_SIGNING_KEYS = "list_signing_keys"
    CHANGE_CHAT_SETTINGS = "change_chat_settings"
    """Those of a Discord server."""
    MIGRATE_DATABASE = "migrate_database"
    FORCE = "force"
    """The same again, so that what belongs to it is deleted as well."""


def known_step(word: str | None) -> Next | None:
    """The step of this word; None for no word, and for one of a newer release."""
    try:
        return Next(word) if word else None
    except ValueError:
        return None
