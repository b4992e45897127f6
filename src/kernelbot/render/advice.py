"""What to do next after an error, in the words of the terminal: for commands, for what is judged
without a server, and for a server's own log."""

from kernelbot.domain.errors import KernelbotError
from kernelbot.domain.next_steps import Next

ADVICE: dict[Next, str] = {
    Next.TRY_AGAIN: "Try again in a moment.",
    Next.BEGIN_AGAIN: "Run the command again.",
    Next.LOG_IN: (
        "Log in: `kernelbot login URL TOKEN`. An admin makes tokens: `kernelbot user create NAME`."
    ),
    Next.ASK_ADMIN: "Ask an admin.",
    Next.ASK_ORGANISERS: "Ask the organisers.",
    Next.CHOOSE_ANOTHER_NAME: "Choose another name.",
    Next.NAME_BOARD: "Use --board, or write `#!POPCORN leaderboard NAME` at the top of the file.",
    Next.LIST_BOARDS: "See: `kernelbot board list`",
    Next.LIST_SUBMISSIONS: "See: `kernelbot submission list`",
    Next.SHOW_SUBMISSION: "See: `kernelbot submission show ID`",
    Next.CANCEL_SUBMISSION: "Wait for one, or cancel one: `kernelbot submission cancel ID`",
    Next.LIST_ARTIFACTS: "See: `kernelbot submission artifacts ID`",
    Next.LIST_USERS: "See: `kernelbot user list`",
    Next.LIST_IDENTITIES: "See: `kernelbot identity list`",
    Next.LIST_TOKENS: "See: `kernelbot token list`",
    Next.REVOKE_TOKENS: "Revoke some: `kernelbot token revoke ID`",
    Next.LIST_INVITES: "See: `kernelbot invite list BOARD`",
    Next.LIST_WEBHOOKS: "See: `kernelbot webhook list`",
    Next.DELETE_WEBHOOKS: "Delete some: `kernelbot webhook delete ID`",
    Next.REPLACE_WEBHOOK: "If its secret is lost, delete it first: `kernelbot webhook delete ID`",
    Next.ENABLE_WEBHOOK: "Enable it first: `kernelbot webhook enable ID`",
    Next.SHOW_WEBHOOK_LOG: "See: `kernelbot webhook log ID`",
    Next.LIST_SIGNING_KEYS: "The platform shows its keys: `kernelbot signing-key list`",
    Next.CHANGE_CHAT_SETTINGS: "In Discord, `/admin settings` changes that.",
    Next.MIGRATE_DATABASE: "Run `kernelbot db migrate` where the server is.",
    Next.FORCE: "With --force they are deleted as well.",
}


def error_text(error: KernelbotError) -> str:
    """What happened and what to do next, on one line."""
    return f"{error} {error.advice(ADVICE)}".rstrip()
