"""Versioned wire types between platform and harness: `JobSpec` goes in, `RunResult` comes out.

Standard library only: this package travels with the harness to machines that have nothing else.
Each module is loaded when one of its names is asked for: a command that needs a mode has no use for
the classes of a result, which take longer to make than the command takes to answer.
"""

from typing import TYPE_CHECKING

from kernelbot.protocol.loading import lazily

if TYPE_CHECKING:  # the same as `_HOMES`, for what reads the sources
    from kernelbot.protocol.codec import WireError, from_wire, precompile_decoders, to_wire
    from kernelbot.protocol.enums import (
        Fault,
        HarnessKind,
        Mode,
        NumberType,
        Phase,
        SandboxMode,
        Vendor,
        Verdict,
    )
    from kernelbot.protocol.events import EventKind, ProgressEvent
    from kernelbot.protocol.job import (
        BuildConfig,
        Case,
        CaseValue,
        DeviceSpec,
        Floor,
        JobSpec,
        Limits,
        Peak,
        ProblemSpec,
        SamplingRules,
        SourceFile,
        Timeouts,
    )
    from kernelbot.protocol.lang import Lang
    from kernelbot.protocol.payload import MAX_PAYLOAD_BYTES, decode_payload, encode_payload
    from kernelbot.protocol.rank_rule import RankRule
    from kernelbot.protocol.result import (
        NOT_RUN,
        Artifact,
        BuildEnvironment,
        CaseResult,
        CompileReport,
        DuelResult,
        DuelWorkload,
        Failure,
        PhaseResult,
        Product,
        RunResult,
        SandboxReport,
        SystemInfo,
        WorkloadResult,
    )
    from kernelbot.protocol.version import PROTOCOL_VERSION, VersionMismatch, check_version

__all__ = [
    "MAX_PAYLOAD_BYTES",
    "NOT_RUN",
    "PROTOCOL_VERSION",
    "Artifact",
    "BuildConfig",
    "BuildEnvironment",
    "Case",
    "CaseResult",
    "CaseValue",
    "CompileReport",
    "DeviceSpec",
    "DuelResult",
    "DuelWorkload",
    "EventKind",
    "Failure",
    "Fault",
    "Floor",
    "HarnessKind",
    "JobSpec",
    "Lang",
    "Limits",
    "Mode",
    "NumberType",
    "Peak",
    "Phase",
    "PhaseResult",
    "ProblemSpec",
    "Product",
    "ProgressEvent",
    "RankRule",
    "RunResult",
    "SamplingRules",
    "SandboxMode",
    "SandboxReport",
    "SourceFile",
    "SystemInfo",
    "Timeouts",
    "Vendor",
    "Verdict",
    "VersionMismatch",
    "WireError",
    "WorkloadResult",
    "check_version",
    "decode_payload",
    "encode_payload",
    "from_wire",
    "precompile_decoders",
    "to_wire",
]
_HOMES = {
    "codec": ("WireError", "from_wire", "precompile_decoders", "to_wire"),
    "enums": (
        *("Fault", "HarnessKind", "Mode", "NumberType", "Phase", "SandboxMode", "Vendor"),
        "Verdict",
    ),
    "events": ("EventKind", "ProgressEvent"),
    "job": (
        *("BuildConfig", "Case", "CaseValue", "DeviceSpec", "Floor", "JobSpec", "Limits", "Peak"),
        *("ProblemSpec", "SamplingRules", "SourceFile", "Timeouts"),
    ),
    "lang": ("Lang",),
    "payload": ("MAX_PAYLOAD_BYTES", "decode_payload", "encode_payload"),
    "rank_rule": ("RankRule",),
    "result": (
        *(
            "Artifact",
            "BuildEnvironment",
            "CaseResult",
            "CompileReport",
            "DuelResult",
            "DuelWorkload",
            "NOT_RUN",
        ),
        *("Failure", "PhaseResult", "Product", "RunResult", "SandboxReport", "SystemInfo"),
        "WorkloadResult",
    ),
    "version": ("PROTOCOL_VERSION", "VersionMismatch", "check_version"),
}
"""The names of each module that are ours to give."""

if not TYPE_CHECKING:  # else a misspelt name would be one to those who check types
    __getattr__ = lazily(__name__, _HOMES)
