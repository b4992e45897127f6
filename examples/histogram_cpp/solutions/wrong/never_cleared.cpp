// Adds to whatever the output held before.
#include "task.h"

extern "C" void custom_kernel(const uint8_t* data, int64_t size, int64_t* counts) {
    for (int64_t i = 0; i < size; ++i) {
        ++counts[data[i]];
    }
}
