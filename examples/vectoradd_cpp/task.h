#pragma once
#include <cstdint>

/// Writes a[i] + b[i] to out[i] for every i in [0, size). The arrays don't overlap.
extern "C" void custom_kernel(const float* a, const float* b, int64_t size, float* out);
