"""Puts a file into a dataset on the Hugging Face Hub."""

import logging
import tempfile
from pathlib import Path
from typing import IO, Any

from kernelbot.domain.errors import Conflict, Unavailable, UserError
from kernelbot.platform.distribution import checkout_command
from kernelbot.platform.exports.card import CARD, CardFile, card_text, files_of
from kernelbot.platform.exports.hub_refusals import refusal
from kernelbot.platform.exports.model import ExportRules


def upload(rules: ExportRules, file: Path, about: CardFile, *, private: bool) -> str:
    """Create the dataset if it doesn't exist, and put the file at `about.path`, with a card that
    tells of all Parquet files there; returns its URL. Blocks.

    Raises `UserError` if no token or dataset is configured, or the Hub refuses the card,
    `Conflict` if the dataset is public and the upload is to be private, or the other way round,
    `Unavailable` when the Hub can't be reached or refuses.
    """
    if rules.token is None or rules.repository is None:
        raise UserError(
            "No dataset is configured.", hint="Set HF_TOKEN, and `repository` under [export]."
        )
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    except ImportError:
        raise Unavailable(
            "Uploads need huggingface_hub, which isn't installed.",
            hint=f"Install the extra: {checkout_command('export')}.",
        ) from None
    # What goes wrong is raised; its warnings would put signed addresses into our log.
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    hub = huggingface_hub.HfApi(endpoint=rules.endpoint, token=rules.token)
    try:
        with file.open("rb") as opened:
            return _upload(hub, rules, rules.repository, opened, about, private=private)
    except HFValidationError as error:
        raise UserError(f"{rules.repository!r} can't be a dataset's name: {error}") from None
    except ValueError as error:
        raise UserError(
            f"The Hub refuses the dataset's card: {error}", hint="Is `license` one of its names?"
        ) from None
    # Its bases: that of its HTTP library, which isn't the same in each release, and OSError.
    except HfHubHTTPError.__bases__ as error:
        raise refusal(error, file.stat().st_size) from error


def _upload(
    hub: Any,
    rules: ExportRules,
    repository: str,
    file: IO[bytes],
    about: CardFile,
    *,
    private: bool,
) -> str:
    from huggingface_hub import CommitOperationAdd

    url = hub.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
    # One that was there already keeps its own visibility, whatever we asked for.
    there = hub.dataset_info(repository)
    if there.private != private:
        is_now, wanted = ("public", "private") if private else ("private", "public")
        raise Conflict(
            f"The dataset {repository} is {is_now}, and this export is to be {wanted}.",
            hint="Change that on the Hub, or configure another dataset.",
        )
    paths = {one.rfilename for one in there.siblings or ()}
    known = _known(hub, repository) if CARD in paths else {}
    tables = {path for path in paths if path.endswith(".parquet")} | {about.path}
    card = card_text(repository, rules.license, tables, {**known, about.path: about}.values())
    table = CommitOperationAdd(about.path, file)
    _send_if_large(hub, repository, table)
    hub.create_commit(
        repo_id=repository,
        repo_type="dataset",
        operations=[table, CommitOperationAdd(CARD, card.encode())],
        commit_message=f"Export {about.path}",
    )
    return str(url)


def _send_if_large(hub: Any, repository: str, table: Any) -> None:
    """Ask the Hub how it wants the file, and send a large one to where it says; the commit then
    only names it. An open file goes by HTTP. A path would go by another protocol, in native code
    that keeps a cache in the server's home and says less of what went wrong."""
    try:
        hub.preupload_lfs_files(repository, [table], repo_type="dataset")
    except RuntimeError as error:
        raise error.__cause__ or error from None
    except ValueError as error:
        raise refusal(error, table.upload_info.size) from error


def _known(hub: Any, repository: str) -> dict[str, CardFile]:
    """What the dataset's card tells of its files."""
    with tempfile.TemporaryDirectory(prefix="kernelbot-card-") as folder:
        file = hub.hf_hub_download(repository, CARD, repo_type="dataset", local_dir=folder)
        return files_of(Path(file).read_text(encoding="utf-8", errors="replace"))
