"""The work folder on a cluster: whose it is, the harness in it, and what is removed from it."""

import asyncio
import hashlib
import io
import math
import time
import uuid
import zipfile
from pathlib import Path

import structlog

from kernelbot.domain.errors import DeviceRefused, SchedulerError
from kernelbot.launchers.slurm.commands import Ended, SlurmCommands
from kernelbot.launchers.slurm.settings import SlurmSettings

FOLDERS = ("harness", "jobs", "done", "payloads", "waiting", "cancels", "nodes")
_DAY_S = 86_400.0
_OLD_DAYS = 7
_LOOK_AGAIN_S = 600.0
"""How long the harness is believed to be there."""
_LAST_WORDS = 400

# Nothing but these words is read by a shell; what follows are its arguments.
_MAKE = (
    'mkdir -p -m 700 -- "$@" && new=$(mktemp -- "$2/.whose.XXXXXX") && '
    'me=$(stat -c %u -- "$new") && rm -f -- "$new" && '
    'find -H "$@" -maxdepth 0 "(" ! -user "$me" ! -user 0 -o -perm /022 ")"'
)
"""Makes the folders, and names those that another account owns or may write to. Who we are there a
new file says: file systems may have other numbers of accounts."""
_LOOK_AFTER = (
    'cd -- "$1" || exit; '
    'if test -d "$2" && test "$(find "$2" -type f ! -path "*/__pycache__/*" | wc -l)" -lt "$3"; '
    'then gone=$(mktemp -d harness/gone.XXXXXX) && mv -T -- "$2" "$gone/harness"; fi; '
    'touch -c -- "$2" "$2.pyz"; test -f "$2.pyz"'
)
"""Whether the harness is there. Of what a node has unpacked many sites remove what nobody has read
for weeks: if that lacks files, the next node unpacks it again."""
_KEEP_OTHERS = 'cd -- "$1" && find harness -mindepth 1 -maxdepth 1 -exec touch -c -- "{}" +'
"""Other harnesses count as used until now: jobs that wait or run name one of them."""
_WRITE = (
    'umask 077; cat > "$1" && test "$(wc -c < "$1")" -eq "$3" && chmod "$4" -- "$1" && '
    'mv -f -- "$1" "$2" || { rm -f -- "$1"; echo "not all of it has come" >&2; exit 1; }'
)
"""A connection that breaks off ends the input as well."""
_FORGET = (
    'cd -- "$1" && rm -rf -- "payloads/$2" && '
    'if [ "$3" = taken ]; then mkdir -p -m 700 -- "jobs/$2" && find "jobs/$2" -mindepth 1 -delete; '
    'else rm -rf -- "jobs/$2"; fi && rm -f -- "done/$2"'
)
"""An attempt's folder that is left, and is empty, says that it was begun: see the jobs' script."""
log = structlog.get_logger()


def failure(command: str, ended: Ended) -> SchedulerError:
    """What a command said that failed."""
    said = ended.errors[-_LAST_WORDS:] or f"exit code {ended.code}"
    return SchedulerError(f"{command}: {said}")


class WorkFolder:
    """One cluster's. `harness`: the file that the nodes run."""

    def __init__(self, settings: SlurmSettings, harness: Path, commands: SlurmCommands) -> None:
        self._settings = settings
        self._harness = harness
        self._commands = commands
        self._installing = asyncio.Lock()
        self._installed = ""
        """The harness's path below the folder, once it was brought."""
        self._look_at = float("-inf")
        """When it is to be looked after again."""
        self._clean_at = float("-inf")

    def path(self, name: str = "") -> str:
        """The path of what is in the folder; without a name, of the folder."""
        return f"{self._settings.work_dir}/{name}".rstrip("/")

    async def harness(self) -> str:
        """The harness's path below the folder, where it is. Whoever finds it need not bring it, as
        its name says what it holds. Raises `SchedulerError`, and `DeviceRefused` if other accounts
        could put another one there."""
        async with self._installing:
            if time.monotonic() >= self._look_at:
                self._installed = await self._install()
                self._look_at = time.monotonic() + _LOOK_AGAIN_S
            return self._installed

    def doubt(self) -> None:
        """The harness is gone: the next who needs it looks after it."""
        self._look_at = float("-inf")

    async def _install(self) -> str:
        content = await asyncio.to_thread(self._harness.read_bytes)
        name = f"harness/{hashlib.sha256(content).hexdigest()}"
        await self._make()
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = sum(1 for entry in archive.infolist() if not entry.is_dir())
        found = await self._shell(_LOOK_AFTER, self._settings.work_dir, name, str(files))
        if found.code != 0:
            await self._must(_KEEP_OTHERS, self._settings.work_dir)
            await self.write(f"{name}.pyz", content, "644")  # sandboxes have another account
        return f"{name}.pyz"

    async def _make(self) -> None:
        ended = await self._must(_MAKE, self.path(), *map(self.path, FOLDERS))
        if unsafe := ended.text.splitlines():
            raise DeviceRefused(
                f"Other accounts can change {unsafe[0]}, and so what nodes run: make it the "
                "platform's own (chown, chmod go-w)."
            )

    async def write(self, path: str, content: bytes, mode: str = "600") -> None:
        """Whole or not at all. Raises `SchedulerError`."""
        draft = self.path(f"{path}.{uuid.uuid4().hex[:8]}")
        words = (draft, self.path(path), str(len(content)), mode)
        await self._must(_WRITE, *words, stdin=content)

    async def forget(self, attempt: str, *, is_taken: bool) -> None:
        """Remove what was kept of a job. `is_taken`: a job of the attempt's that begins later ends
        at once, until `clean` removes what says so. Raises `SchedulerError`."""
        taken = "taken" if is_taken else ""
        await self._must(_FORGET, self.path(), attempt, taken)

    async def clean_daily(self) -> None:
        """`clean`, once a day."""
        if time.monotonic() >= self._clean_at:
            self._clean_at = time.monotonic() + _DAY_S
            await self.clean()

    async def clean(self) -> None:
        """Remove what was left long ago: nothing of a job that may still wait. What can't be
        removed now, such as a file that a node has open over NFS, stays."""
        kept = f"{Path(await self.harness()).stem}*"
        days = max(_OLD_DAYS, math.ceil(self._settings.traits.wait_s / _DAY_S) + 1)
        old = ["-mindepth", "1", "-maxdepth", "1", "-mtime", f"+{days}", "!", "-name", kept]
        places = [self.path(folder) for folder in FOLDERS]
        try:
            ended = await self._commands.run(
                "find", *places, *old, "-exec", "rm", "-rf", "--", "{}", "+"
            )
            said = "" if ended.code == 0 else ended.errors[-_LAST_WORDS:] or "no reason"
        except SchedulerError as error:
            said = str(error)
        if said:
            log.warning("work_folder_not_cleaned", folder=self.path(), error=said)

    async def _shell(self, script: str, *words: str, stdin: bytes = b"") -> Ended:
        return await self._commands.run("sh", "-c", script, "sh", *words, stdin=stdin)

    async def _must(self, script: str, *words: str, stdin: bytes = b"") -> Ended:
        """Raises `SchedulerError` if it fails."""
        ended = await self._shell(script, *words, stdin=stdin)
        if ended.code != 0:
            raise failure(f"The work folder {self.path()}", ended)
        return ended
