"""All methods that both clients have, but for the stream of events."""

from kernelbot.client.accounts import AccountCalls
from kernelbot.client.boards import BoardCalls
from kernelbot.client.ranking import RankingCalls
from kernelbot.client.signed import SignedCalls
from kernelbot.client.submissions import SubmissionCalls
from kernelbot.client.webhooks import WebhookCalls


class EveryCall(BoardCalls, SubmissionCalls, AccountCalls, RankingCalls, WebhookCalls, SignedCalls):
    """What is asked of a server; `organise` has the rest."""
