"""Running a server: `serve`, `worker`, `verify-runs`, `db migrate`, `backup`, `restore`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kernelbot.cli.declaring import Argument, Commands, Exit, Option
from kernelbot.cli.examples import examples
from kernelbot.cli.extras import require_extra
from kernelbot.cli.options import Force, Url
from kernelbot.cli.terminal import Terminal
from kernelbot.domain.errors import Conflict, UserError

if TYPE_CHECKING:
    from kernelbot.client.endpoint import LocalServer

Data = Annotated[
    Path | None,
    Option(
        "--data",
        help="The folder of the embedded database and of running jobs. "
        "Default: this account's data folder.",
        show_default=False,
    ),
]
JsonErrors = Annotated[
    bool, Option("--json", help="Errors as one JSON document. The log stays on stderr.")
]
Json = Annotated[bool, Option("--json", help="Print one JSON document on stdout.")]


def register(app: Commands) -> None:
    """Add the commands."""
    app.command(
        epilog=examples(
            "kernelbot serve",
            "kernelbot serve --host 0.0.0.0 --port 80 --data /srv/kernelbot",
            "DATABASE_URL=postgresql://db/kernelbot kernelbot serve --no-worker --processes 4",
        )
    )(serve)
    app.command(epilog=examples("DATABASE_URL=postgresql://db/kernelbot kernelbot worker"))(worker)
    app.command(
        epilog=examples(
            "DATABASE_URL=postgresql://db/kernelbot kernelbot bot", "kernelbot bot --debug"
        )
    )(bot)
    app.command(
        epilog=examples("kernelbot verify-runs", "kernelbot verify-runs --device H100 --json")
    )(verify_runs)
    app.command(epilog=examples("kernelbot backup kernels.dump"))(backup)
    app.command(
        epilog=examples("kernelbot restore kernels.dump", "kernelbot restore kernels.dump --force")
    )(restore)
    database = Commands("A database's schema, and whether it is a copy.")
    database.command(
        epilog=examples(
            "DATABASE_URL=postgresql://db/kernelbot kernelbot db migrate",
            "DATABASE_URL=postgresql://db/kernelbot kernelbot db migrate --finish",
        )
    )(migrate)
    database.command(epilog=examples("kernelbot db activate", "kernelbot db activate --data DIR"))(
        activate
    )
    database.command(epilog=examples("DATABASE_URL=postgresql://db/tried kernelbot db copy"))(copy)
    app.add(database, "db")


def serve(
    host: Annotated[str, Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    data: Data = None,
    no_worker: Annotated[
        bool, Option("--no-worker", help="Don't judge here; see `kernelbot worker`.")
    ] = False,
    processes: Annotated[
        int, Option(min=1, max=64, help="How many answer HTTP: one per spare core.")
    ] = 1,
    as_json: JsonErrors = False,
) -> None:
    """Serve the HTTP API and judge submissions, until Ctrl-C or SIGTERM.

    Without DATABASE_URL it starts an embedded Postgres, which needs no set-up.
    """
    require_extra("server")
    from kernelbot.server import serve as server

    server.serve(
        host=host, port=port, data=data, worker=not no_worker, processes=processes, as_json=as_json
    )


def worker(
    data: Data = None,
    as_json: JsonErrors = False,  # noqa: ARG001 (read where errors are printed)
) -> None:
    """Judge submissions for a server elsewhere, through the database of DATABASE_URL."""
    require_extra("server")
    from kernelbot.server.work import run_worker

    run_worker(data=data)


def bot(
    debug: Annotated[
        bool,
        Option("--debug", help="Use DISCORD_DEBUG_TOKEN and DISCORD_DEBUG_CLUSTER_STAGING_ID."),
    ] = False,
    data: Data = None,
    as_json: JsonErrors = False,  # noqa: ARG001 (as above)
) -> None:
    """Answer at Discord, through the database of DATABASE_URL.

    `kernelbot serve` does it by itself when DISCORD_TOKEN is set.
    """
    require_extra("discord")
    from kernelbot.server.bot import run_bot

    run_bot(data=data, debug=debug)


def verify_runs(
    device: Annotated[
        str | None, Option("--device", "-d", help="Default: all of them.", show_default=False)
    ] = None,
    limit_s: Annotated[
        float, Option("--limit", min=1, help="How many seconds each may take.")
    ] = 900.0,
    as_json: Json = False,
) -> None:
    """Send an example through every device and launcher of kernelbot.toml, and say how each did.

    No server takes part. Exit code 1: one failed.
    """
    require_extra("server")
    from kernelbot.server import verify_runs as verifying

    terminal = Terminal(as_json)
    found = verifying.verify_runs(device, limit_s, lambda one: terminal.show(one.line))
    document = verifying.to_document(found)
    terminal.document(document)
    raise Exit(0 if document["ok"] else 1)


def migrate(
    finish: Annotated[
        bool,
        Option("--finish", help="Take away what only the release before needs: none of it runs."),
    ] = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Migrate the database to this release's schema. An embedded one migrates by itself.

    Servers of the release before work on beside this one's, and can be started again. Once none of
    them runs any more, `--finish` takes away what only they needed; there is no way back then.
    """
    require_extra("server")
    from kernelbot.server.database import migrate_database

    terminal = Terminal(as_json)
    done = migrate_database(data=data, finish=finish)
    terminal.show("\n".join(done.applied) or "Nothing to do: the schema is current.")
    if done.kept is not None:
        terminal.show(f"As it was before: {done.kept}")
    if not done.finished:
        terminal.show(
            "Servers of the release before work on. Once none of them runs any more:\n"
            "  kernelbot db migrate --finish"
        )
    kept = str(done.kept) if done.kept else None
    terminal.document({"applied": list(done.applied), "kept": kept, "finished": done.finished})


def activate(data: Data = None, as_json: Json = False) -> None:
    """Let a restored copy judge and tell: it takes the place of the one that it was made of.

    A server that runs on it begins within seconds. The other one must not run any more, since both
    would follow the same jobs and deliver the same messages.
    """
    _set_copy(data, as_json, is_copy=False)


def copy(data: Data = None, as_json: Json = False) -> None:
    """Mark a database as a copy, as `kernelbot restore` does, e.g. one that pg_restore has made.

    A server started on it judges nothing and tells nobody until `kernelbot db activate`.
    """
    _set_copy(data, as_json, is_copy=True)


def _set_copy(data: Path | None, as_json: bool, *, is_copy: bool) -> None:
    require_extra("server")
    from kernelbot.server.copies import set_copy

    terminal = Terminal(as_json)
    set_copy(is_copy=is_copy, data=data)
    done = "It is marked as a copy." if is_copy else "It is active: it judges, and tells people."
    terminal.answer(done, {"copy": is_copy})


def backup(
    file: Annotated[Path, Argument(help="The file to write.")],
    force: Force = False,
    data: Data = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Write all of a server's embedded database to a file, also while it runs.

    Without --data: of the server that the other commands talk to, if it runs here. The file
    holds accounts, code and the boards' secrets: keep it as safe as the server.
    """
    terminal = Terminal(as_json)
    server = None if data is not None else _server_here(url)
    folder = server.data if server else data
    require_extra("server")
    from kernelbot.server import backup as backups

    done = backups.backup(file, data=folder, force=force)
    terminal.show(f"{file}: {done.size_bytes:,} bytes, from {done.data}")
    command = _restore_command(file, done.data)
    terminal.show(f"To replace the database by it, with the server stopped:\n  {command}")
    terminal.document({"file": str(file), "bytes": done.size_bytes, "data": str(done.data)})


def restore(
    file: Annotated[Path, Argument(help="A file that `kernelbot backup` has written.")],
    force: Annotated[bool, Option("--force", help="Replace the data that is there.")] = False,
    data: Data = None,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Replace an embedded database by a backup. The server must be stopped.

    A backup of an older release is migrated to this one's schema. If anything goes wrong, the
    database stays as it was.
    """
    terminal = Terminal(as_json)
    server = None if data is not None else _server_here(url)
    if server is not None:
        raise Conflict(
            f"A server runs on {server.data} ({server.url}).",
            hint="Stop it first. Then, to replace what is there: "
            f"{_restore_command(file, server.data)}",
        )
    require_extra("server")
    from kernelbot.server import backup as backups

    done = backups.restore(file, data=data, force=force)
    migrated = f" Migrated: {', '.join(done.applied)}." if done.applied else ""
    terminal.show(f"{file} is restored into {done.data}.{migrated}")
    terminal.show(
        "It is a copy: a server on it judges nothing and tells nobody (webhooks, Discord). If it "
        "takes the place of the one that was backed up:\n  "
        f"kernelbot db activate --data {shlex.quote(str(done.data))}"
    )
    terminal.document({"file": str(file), "data": str(done.data), "applied": list(done.applied)})


def _server_here(url: str | None) -> LocalServer | None:
    """The running server that other commands would talk to; None: they would find none.

    Raises `UserError` if it doesn't run here as this account, or has no embedded database.
    """
    from kernelbot.client.endpoint import find_endpoint, find_local_server

    endpoint = find_endpoint(url)
    server = find_local_server(endpoint.url)
    if server is None and endpoint.url_from:
        raise UserError(
            f"{endpoint.url} (from {endpoint.url_from}) isn't a server that this account runs on "
            "this machine.",
            hint="Name the folder of its database with --data, on the machine where it runs.",
        )
    if server is not None and server.data is None:
        raise UserError(
            f"The server at {server.url} has no embedded database.",
            hint="Use Postgres' own pg_dump and pg_restore for the one of its DATABASE_URL.",
        )
    return server


def _restore_command(file: Path, data: Path | None) -> str:
    return f"kernelbot restore {shlex.quote(str(file))} --data {shlex.quote(str(data))} --force"
