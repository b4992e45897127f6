"""Being a server: `serve`, `worker`, `db migrate`, `backup`, `restore`."""

from pathlib import Path
from typing import Annotated

import typer

from kernelbot.cli.examples import examples
from kernelbot.cli.inprocess import load
from kernelbot.cli.terminal import Terminal

Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="The folder of the embedded database and of what runs. "
        "Default: this account's data folder.",
        show_default=False,
    ),
]
JsonErrors = Annotated[
    bool, typer.Option("--json", help="Errors as one JSON document. The log is on stderr.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        epilog=examples(
            "kernelbot serve",
            "kernelbot serve --host 0.0.0.0 --port 80 --data /srv/kernelbot",
            "DATABASE_URL=postgresql://db/kernelbot kernelbot serve --no-worker --processes 4",
        )
    )(serve)
    app.command(epilog=examples("DATABASE_URL=postgresql://db/kernelbot kernelbot worker"))(worker)
    app.command(epilog=examples("kernelbot backup kernels.dump"))(backup)
    app.command(
        epilog=examples("kernelbot restore kernels.dump", "kernelbot restore kernels.dump --force")
    )(restore)
    database = typer.Typer(no_args_is_help=True, help="Bring a database of your own up to date.")
    database.command(
        epilog=examples("DATABASE_URL=postgresql://db/kernelbot kernelbot db migrate")
    )(migrate)
    app.add_typer(database, name="db")


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    data: Data = None,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Judge nothing here; see `kernelbot worker`.")
    ] = False,
    processes: Annotated[
        int, typer.Option(min=1, max=64, help="How many answer HTTP: one per core to spare.")
    ] = 1,
    as_json: JsonErrors = False,  # noqa: ARG001 (read where errors are told)
) -> None:
    """Serve the HTTP API and judge submissions, until Ctrl-C or SIGTERM.

    Without DATABASE_URL on an embedded Postgres, which needs no set-up.
    """
    load("serve", "serve")(
        host=host, port=port, data=data, worker=not no_worker, processes=processes
    )


def worker(data: Data = None, as_json: JsonErrors = False) -> None:  # noqa: ARG001 (as above)
    """Judge submissions for a server elsewhere, over the database of DATABASE_URL."""
    load("work", "run_worker")(data=data)


def migrate(data: Data = None, as_json: Json = False) -> None:
    """Bring the database to this release's schema. An embedded one migrates by itself."""
    terminal = Terminal(as_json)
    applied: list[str] = load("database", "migrate_database")(data=data)
    terminal.show("\n".join(applied) if applied else "Nothing to do: the schema is current.")
    terminal.document({"applied": applied})


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is there.")
    ] = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Write all of the embedded database to a file, also while a server runs on it.

    It holds accounts, code and the boards' secrets: keep it as safe as the server.
    """
    terminal = Terminal(as_json)
    size: int = load("backup", "backup")(file, data=data, force=force)
    terminal.show(f"{file}: {size:,} bytes. Back with: kernelbot restore {file}")
    terminal.document({"file": str(file), "bytes": size})


def restore(
    file: Annotated[Path, typer.Argument(help="What `kernelbot backup` has written.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the data that is there.")] = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Put a backup in the place of the embedded database. The server must be stopped.

    A backup of an older release is brought to this one's schema. If anything goes wrong, all is
    as it was.
    """
    terminal = Terminal(as_json)
    applied: list[str] = load("backup", "restore")(file, data=data, force=force)
    terminal.show(f"{file} is restored." + (f" Migrated: {', '.join(applied)}." if applied else ""))
    terminal.document({"file": str(file), "applied": applied})
