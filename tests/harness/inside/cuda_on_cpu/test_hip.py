"""Whether a source is HIP."""

import pytest

from kernelbot.harness.inside.cuda_on_cpu.hip import is_hip, mentions_hip


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (["#include <hip/hip_runtime.h>"], True),
        (["void f();", '  #  include  "hip/hip_fp16.h"\n'], True),
        (["#include <ATen/hip/HIPContext.h>"], True),
        (["#include <c10/hip/HIPStream.h>"], True),
        (["// #include <hip/hip_runtime.h>\n#include <cuda_runtime.h>"], False),
        (['const char *text = "#include <hip/hip_runtime.h>";'], False),
        (["#include <ship/hip/a.h>"], False),
        (["#include"], False),
        ([], False),
    ],
)
def test_an_included_header_of_hips_decides(sources: list[str], expected: bool) -> None:
    assert expected is is_hip(sources)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('SOURCE = """#include <hip/hip_runtime.h>\n"""', True),
        ('SOURCE = """\n#include <c10/hip/HIPStream.h>\n"""', True),
        ("import hip", False),
        ("#include <cuda_runtime.h>", False),
    ],
)
def test_a_python_file_mentions_it_in_its_text(text: str, expected: bool) -> None:
    assert expected is mentions_hip(text)
