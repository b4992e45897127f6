#pragma once
#include <cstdint>

/// Writes to counts[v] how many of data[0 .. size) equal v, for every v in [0, 256).
extern "C" void custom_kernel(const uint8_t* data, int64_t size, int64_t* counts);
