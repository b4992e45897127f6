import pytest

from kernelbot.catalog.harness_choice import choose
from kernelbot.catalog.reference import Reference
from kernelbot.protocol import BuildConfig, HarnessKind, Lang

_REFERENCE = Reference(frozenset({"generate_input", "check_implementation"}), None, ())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("int main(int argc, char** argv) {}", HarnessKind.SCRIPT),
        ('extern "C" int main () {}', HarnessKind.SCRIPT),
        ("auto main() -> int {}", HarnessKind.SCRIPT),
        ("int\nmain() {}", HarnessKind.SCRIPT),
        ("int domain(int x);", HarnessKind.NATIVE),
        ("// int main(", HarnessKind.NATIVE),
        ("\n" * 1_000_000, HarnessKind.NATIVE),  # looked at from each of them, they'd take hours
        ("int " * 250_000, HarnessKind.NATIVE),
    ],
    ids=["plain", "extern", "auto", "two lines", "other", "comment", "empty lines", "spaces"],
)
def test_a_main_of_its_own_takes_a_script(text: str, kind: HarnessKind) -> None:
    config = BuildConfig(sources=("a.cpp",))
    files = {"a.cpp": text}
    choice = choose(Lang.CPP, config, files, _REFERENCE, multi_gpu=False, wished=None)
    assert kind == choice.kind
