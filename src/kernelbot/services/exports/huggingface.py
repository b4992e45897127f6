"""Puts a file into a dataset on the Hugging Face Hub."""

from pathlib import Path
from typing import Any

from kernelbot.domain.errors import Conflict, Unavailable, UserError
from kernelbot.domain.export import ExportRules


def upload(rules: ExportRules, file: Path, path: str, *, private: bool) -> str:
    """Create the dataset if it doesn't exist, and put the file at this path; returns its URL.
    Blocks.

    Raises `UserError` if no token or dataset is configured, `Conflict` if the dataset is
    public and the upload is to be private, or the other way round, `Unavailable` when the Hub
    can't be reached or refuses.
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
            hint="pip install 'kernelbot[export]'",
        ) from None
    import httpx

    hub = huggingface_hub.HfApi(endpoint=rules.endpoint, token=rules.token)
    try:
        return _upload(hub, rules.repository, file, path, private=private)
    except HFValidationError as error:
        raise UserError(f"{rules.repository!r} can't be a dataset's name: {error}") from None
    except (HfHubHTTPError, httpx.HTTPError, OSError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise Unavailable(f"The Hub did not take the export: {said[0]}") from error


def _upload(hub: Any, repository: str, file: Path, path: str, *, private: bool) -> str:
    url = hub.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
    # One that was there already keeps its own visibility, whatever we asked for.
    if hub.dataset_info(repository).private != private:
        is_now, wanted = ("public", "private") if private else ("private", "public")
        raise Conflict(
            f"The dataset {repository} is {is_now}, and this export is to be {wanted}.",
            hint="Change that on the Hub, or configure another dataset.",
        )
    hub.upload_file(
        path_or_fileobj=str(file),
        path_in_repo=path,
        repo_id=repository,
        repo_type="dataset",
        commit_message=f"Export {path}",
    )
    return str(url)
