"""Settings: from `kernelbot.toml`, `.env` and the environment."""

import importlib.util
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import AliasChoices, Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from kernelbot.accounts.logins.model import Registration
from kernelbot.accounts.logins.providers import LoginRules, discord, github
from kernelbot.domain.errors import UserError
from kernelbot.moderation.reviews.model import ReviewRules
from kernelbot.platform.exports.model import ExportRules
from kernelbot.protocol import Limits, SamplingRules, SandboxMode, Vendor
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.server.judge_once import HARNESS
from kernelbot.server.launchers import AnyLauncherTable, environment_for
from kernelbot.server.mistakes import all_mistakes, mistake
from kernelbot.server.tables import (
    BuildSettings,
    DatabaseSettings,
    DeviceSettings,
    DiscordSettings,
    DuelSettings,
    ExportSettings,
    LimitsTable,
    QueueSettings,
    ReviewTable,
    SamplingTable,
    VendorSettings,
    WebhookSettings,
    WorkerSettings,
)

LOCAL = "local"
"""The launcher of this machine, which always exists."""
_ENV_FILE = ".env"
_LAUNCHER_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def _environment(name: str) -> Any:
    """A text that only the environment and `.env` can set, under a name without our prefix."""
    return Field(default=None, repr=False, validation_alias=AliasChoices(name, name.lower()))


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="KERNELBOT_",
        env_nested_delimiter="__",
        env_file=_ENV_FILE,
        extra="ignore",
        populate_by_name=True,
    )

    data: Path = Field(default_factory=lambda: platformdirs.user_data_path("kernelbot"))
    """The folder of the embedded Postgres and of running jobs."""
    database_url: str | None = Field(
        default=None, validation_alias=AliasChoices("DATABASE_URL", "database_url")
    )
    disable_ssl: bool = Field(
        default=False, validation_alias=AliasChoices("DISABLE_SSL", "disable_ssl")
    )
    admin_token: str | None = Field(
        default=None, validation_alias=AliasChoices("ADMIN_TOKEN", "admin_token")
    )
    public_url: str | None = None
    """The URL under which browsers reach the server, for logins, and schedulers' nodes, for large
    jobs and live progress; None: browsers as in their requests, and nodes not at all."""
    registration: Registration = Registration.OPEN
    """Who may create an account by logging in."""
    cli_github_client_id: str | None = _environment("CLI_GITHUB_CLIENT_ID")
    cli_github_client_secret: str | None = _environment("CLI_GITHUB_CLIENT_SECRET")
    cli_discord_client_id: str | None = _environment("CLI_DISCORD_CLIENT_ID")
    cli_discord_client_secret: str | None = _environment("CLI_DISCORD_CLIENT_SECRET")
    cli_token_url: str | None = _environment("CLI_TOKEN_URL")
    """Where Discord exchanges codes; None: under `discord_url`."""
    github_url: str = "https://github.com"
    github_api_url: str = "https://api.github.com"
    discord_url: str = "https://discord.com"
    discord_token: str | None = _environment("DISCORD_TOKEN")
    """The bot's; with it `serve` starts the bot."""
    discord_guild: int | None = Field(
        default=None, validation_alias=AliasChoices("DISCORD_CLUSTER_STAGING_ID", "discord_guild")
    )
    discord_debug_token: str | None = _environment("DISCORD_DEBUG_TOKEN")
    discord_debug_guild: int | None = Field(
        default=None,
        validation_alias=AliasChoices("DISCORD_DEBUG_CLUSTER_STAGING_ID", "discord_debug_guild"),
    )
    discord: DiscordSettings = Field(default_factory=DiscordSettings)
    problem_dev_dir: Path = Field(
        default=Path("examples"),
        validation_alias=AliasChoices("PROBLEM_DEV_DIR", "problem_dev_dir"),
    )
    problems_repo: str | None = Field(
        default=None, validation_alias=AliasChoices("PROBLEMS_REPO", "problems_repo")
    )
    """The repository that `kernelbot sync` reads if none is named."""
    hf_token: str | None = Field(
        default=None, repr=False, validation_alias=AliasChoices("HF_TOKEN", "hf_token")
    )
    """With it the worker uploads an export to `export.repository` every day."""
    export: ExportSettings = Field(default_factory=ExportSettings)
    launchers: dict[str, AnyLauncherTable] = Field(default_factory=dict)
    """Schedulers by the names that devices know them by; `local` needs no table."""
    devices: tuple[DeviceSettings, ...] = Field(default=(DeviceSettings(name="CPU"),), min_length=1)
    limits: LimitsTable = Field(default_factory=Limits)
    sampling: SamplingTable = Field(default_factory=SamplingRules)
    sandbox: SandboxMode = SandboxMode.REQUIRED
    worker: WorkerSettings = Field(default_factory=WorkerSettings)
    review: ReviewTable = Field(default_factory=ReviewRules)
    builds: BuildSettings = Field(default_factory=BuildSettings)
    queue: QueueSettings = Field(default_factory=QueueSettings)
    database: DatabaseSettings = Field(default_factory=DatabaseSettings)
    duels: DuelSettings = Field(default_factory=DuelSettings)
    webhooks: WebhookSettings = Field(default_factory=WebhookSettings)
    vendors: VendorSettings = Field(default_factory=VendorSettings)
    harness_command: tuple[str, ...] = HARNESS
    """How the local launcher starts the harness."""
    warm: tuple[str, ...] | None = None
    """Frameworks loaded in advance; None: numpy, and torch, if it is installed, for devices
    whose open boards mention it."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment, `.env`, and the file of KERNELBOT_CONFIG."""
        file = TomlConfigSettingsSource(settings_cls, _configuration_file())
        _refuse_unknown(file.toml_data, settings_cls)
        return (init_settings, env_settings, dotenv_settings, file_secret_settings, file)

    @field_validator("database_url")
    @classmethod
    def _is_a_postgres_url(cls, url: str | None) -> str | None:
        """Empty counts as not set, as in a shell; the value may hold a password and isn't shown."""
        if not url:
            return None
        if not url.startswith(("postgresql://", "postgres://")):
            raise mistake("must begin with postgresql://")
        return url

    @field_validator("admin_token")
    @classmethod
    def _is_given_or_not(cls, token: str | None) -> str | None:
        """Empty counts as not set, as in a shell; a line's end isn't part of it."""
        return (token or "").strip() or None

    @field_validator("devices")
    @classmethod
    def _have_names_of_their_own(
        cls, devices: tuple[DeviceSettings, ...]
    ) -> tuple[DeviceSettings, ...]:
        names = [device.name.casefold() for device in devices]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise mistake(f"{twice}: there are two devices of this name")
        return devices

    @field_validator("launchers", mode="before")
    @classmethod
    def _have_plain_names(cls, launchers: Any) -> Any:
        for name in launchers if isinstance(launchers, dict) else ():
            if name == LOCAL:
                raise mistake("this machine needs no table", key=name)
            if not _LAUNCHER_NAME.fullmatch(name):
                raise mistake("a name has small letters, digits and hyphens, 40 at most", key=name)
        return launchers

    @field_validator("devices")
    @classmethod
    def _name_launchers_that_there_are(
        cls, devices: tuple[DeviceSettings, ...], info: ValidationInfo
    ) -> tuple[DeviceSettings, ...]:
        known = {LOCAL, *info.data.get("launchers", ())}
        for number, device in enumerate(devices):
            if "launchers" in info.data and (unknown := set(device.launcher) - known):
                raise mistake(
                    f"there is no launcher {min(unknown)!r}, but {', '.join(sorted(known))}",
                    key=f"{number}.launcher",
                )
            if len(set(device.launcher)) < len(device.launcher):
                raise mistake("a launcher is named twice", key=f"{number}.launcher")
        return devices

    @field_validator("devices")
    @classmethod
    def _build_on_processors_that_there_are(
        cls, devices: tuple[DeviceSettings, ...]
    ) -> tuple[DeviceSettings, ...]:
        by_name = {device.name: device for device in devices}
        for number, device in enumerate(devices):
            if device.builds_on is None:
                continue
            builder, key = by_name.get(device.builds_on), f"{number}.builds_on"
            if builder is None or builder is device:
                raise mistake(f"there is no other device {device.builds_on!r}", key=key)
            if builder.vendor is not Vendor.CPU or builder.builds_on is not None:
                raise mistake("it must be a CPU that builds for itself", key=key)
        return devices

    def device_configs(self) -> tuple[DeviceConfig, ...]:
        return tuple(device.config() for device in self.devices)

    def launcher_environment(self) -> dict[str, str]:
        """What launchers may read of the environment and `.env`, by the variables' names."""
        return environment_for(self.launchers.values(), Path(_ENV_FILE))

    def login_rules(self) -> LoginRules:
        """The providers that have both an id and a secret."""
        providers = []
        if self.cli_discord_client_id and self.cli_discord_client_secret:
            providers.append(
                discord(
                    self.cli_discord_client_id,
                    self.cli_discord_client_secret,
                    url=self.discord_url.rstrip("/"),
                    token_url=self.cli_token_url,
                )
            )
        if self.cli_github_client_id and self.cli_github_client_secret:
            providers.append(
                github(
                    self.cli_github_client_id,
                    self.cli_github_client_secret,
                    url=self.github_url.rstrip("/"),
                    api_url=self.github_api_url.rstrip("/"),
                )
            )
        return LoginRules(tuple(providers), self.registration)

    def host_command(self, device: DeviceConfig, *, torch: bool = False) -> tuple[str, ...]:
        """The command that starts a device's harness host. `torch`: whether its boards need it."""
        options = ["--warm", ",".join(self._warm(torch=torch)), "--slots", str(device.slots)]
        options += ["--vendor", device.spec.vendor]
        options += ["--reserved-cores", str(device.reserved_cores)]
        if not device.turns:
            options.append("--no-turns")
        options += ["--build-cache", str(self.data / "builds")]
        if device.spec.arch is not None:
            options += ["--arch", device.spec.arch]
        for folder in device.spec.include_dirs:
            options += ["--include-dir", folder]
        if self.sandbox == SandboxMode.NONE:
            options.append("--no-sandbox-ok")
        return (*self.harness_command, "host", *options)

    def export_rules(self) -> ExportRules:
        export = self.export
        return ExportRules(
            export.key, self.hf_token, export.repository, export.endpoint, export.license
        )

    def external_database_url(self) -> str | None:
        """`DATABASE_URL` with what `DISABLE_SSL` asks for; None: the embedded server."""
        if self.database_url is None:
            return None
        url = self.database_url.replace("postgres://", "postgresql://", 1)
        if self.disable_ssl and "sslmode=" not in url:
            url += ("&" if "?" in url else "?") + "sslmode=disable"
        return url

    def _warm(self, *, torch: bool) -> tuple[str, ...]:
        if self.warm is not None:
            return self.warm
        found = torch and importlib.util.find_spec("torch") is not None
        return ("numpy", "torch") if found else ("numpy",)


def _configuration_file() -> str:
    """The configuration file. Raises `UserError` if KERNELBOT_CONFIG names one that isn't there."""
    named = os.environ.get("KERNELBOT_CONFIG")
    if named and not Path(named).is_file():
        raise UserError(f"KERNELBOT_CONFIG names {named}, which isn't a file.")
    return named or "kernelbot.toml"


def _refuse_unknown(table: dict[str, Any], settings: type[BaseSettings]) -> None:
    """Refuse unknown keys: the file is only ours, unlike the environment and `.env`. Raises
    `UserError`."""
    known = set(settings.model_fields)
    for field in settings.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices):
            known |= {str(choice) for choice in field.validation_alias.choices}
    unknown = sorted(set(table) - known)
    if unknown:
        raise UserError(
            f"The configuration file has the unknown key `{unknown[0]}`.",
            hint="See docs/reference/configuration.md.",
        )


def read_settings(**given: object) -> Settings:
    """The settings; those given on the command line (None: not given) take precedence.

    Raises `UserError` naming each key that is wrong.
    """
    try:
        return Settings(**{key: value for key, value in given.items() if value is not None})  # type: ignore[arg-type]  # pydantic checks
    except ValidationError as error:
        raise UserError(
            f"The configuration has mistakes: {all_mistakes(error)}",
            hint="See kernelbot.toml, .env and the environment.",
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{_configuration_file()} isn't TOML: {error}.") from None
    except UnicodeDecodeError:
        raise UserError("kernelbot.toml or .env isn't text in UTF-8.") from None
    except OSError as error:
        raise UserError(f"{error.filename} can't be read: {error.strerror}.") from None
