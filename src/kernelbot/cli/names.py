"""What commands there are, and what each does: known without loading any."""

COMPLETES = "_KERNELBOT_COMPLETE"
"""The variable by which a shell asks what could be typed next."""
COMMANDS = {
    "judging": {
        "run": "Judge a file against a problem's folder, without a server.",
        "doctor": (
            "Check each part that judging uses: is it there, does it work, and what to do if not."
        ),
        "vendor": "Lend a machine to a platform.",
    },
    "preflight": {
        "preflight": (
            "Compile a file for a GPU, without one: registers, spills, occupancy, errors and their "
            "lines."
        )
    },
    "comparing": {
        "compare": "Judge two files against each other, without a server: which one is faster?"
    },
    "dev.commands": {"dev": "Judge a file at every save: kernelbot dev PROBLEM_DIR FILE."},
    "submitting": {"submit": "Send a file to a board and follow the judging."},
    "submissions": {"submission": "List, show, watch, compare and cancel submissions."},
    "boards": {
        "board": "List, show, open and change leaderboards.",
        "devices": "List the server's devices and how busy they are.",
    },
    "setup": {
        "setup": "Write a folder with the starter, the problem, and a guide for people and agents."
    },
    "problems": {"problem": "Write and check problems on this disk."},
    "accounts": {
        "user": "Make, list, ban and delete accounts.",
        "login": (
            "Log in to a server, and use it from now on: with a token, or with GitHub or Discord."
        ),
        "whoami": "Show the server, the account, and where its token was found.",
        "logout": ("Forget a server and its token on this machine. The token itself stays valid."),
    },
    "opening": {
        "open": "Log a browser in as the account of this terminal, by a link that works once."
    },
    "authors": {
        "author": "Show authors, and what others see of you.",
        "follow": "Follow boards and authors, and show what you follow and what is new there.",
    },
    "tokens": {"token": "List, create and revoke your own tokens."},
    "identities": {"identity": "List and unlink what you log in with."},
    "invites": {
        "invite": "Create, list and revoke invites.",
        "join": "Use an invite: its boards are open to you from now on.",
    },
    "organising": {
        "pause": "Accept no more submissions; those accepted before are judged. For admins.",
        "resume": "Accept submissions again. For admins.",
        "audit": "Show what organisers did, the newest first. For admins.",
    },
    "sync": {"sync": "Create and update boards from competition files. For admins."},
    "statistics": {
        "stats": (
            "Show how much was submitted, how it ended, and how long people waited. For organisers."
        )
    },
    "exports": {
        "export": (
            "Export submissions with their code as Parquet, or their runs as CSV, under pseudonyms."
        )
    },
    "webhooks": {"webhook": "Tell addresses of verdicts, records and deadlines."},
    "attestations": {
        "verify": (
            "Check a signed result, without a server: the signature, and the scores by the samples."
        ),
        "signing-key": "The keys by which the platform signs results.",
    },
    "agents.command": {"mcp": "Serve the tools of the Model Context Protocol to an agent."},
    "environment": {"env": "The judge as an environment: OpenEnv."},
    "server": {
        "serve": "Serve the HTTP API and judge submissions, until Ctrl-C or SIGTERM.",
        "worker": "Judge submissions for a server elsewhere, through the database of DATABASE_URL.",
        "bot": "Answer at Discord, through the database of DATABASE_URL.",
        "verify-runs": (
            "Send an example through every device and launcher of kernelbot.toml, and say how each "
            "did."
        ),
        "backup": "Write all of a server's embedded database to a file, also while it runs.",
        "restore": "Replace an embedded database by a backup. The server must be stopped.",
        "db": "A database's schema, and whether it is a copy.",
    },
}
"""What each module registers, and how its help begins. Only the module of the command that is
called is loaded: loading all of them takes longer than judging a file."""
AUDIENCES = {
    "For authors": (
        *("setup", "submit", "run", "dev", "preflight", "compare", "submission", "board"),
        *(
            "devices",
            "author",
            "follow",
            "login",
            "open",
            "whoami",
            "logout",
            "join",
            "token",
            "identity",
        ),
        *("verify", "mcp", "env"),
    ),
    "For problem authors and organisers": (
        *("problem", "sync", "invite", "user", "webhook", "stats", "export"),
        *("pause", "resume", "audit", "signing-key"),
    ),
    "For operators and vendors": (
        *("serve", "worker", "bot", "doctor", "verify-runs", "vendor", "backup", "restore", "db"),
    ),
}
"""Whom each command is for: the help shows them in these groups, in this order."""
