// Ends at the time limit.
#include "task.h"

extern "C" void custom_kernel(const uint8_t* data, int64_t size, int64_t* counts) {
    volatile int64_t i = 0;
    while (i < size || counts != nullptr) {
        i = i + data[0];
    }
}
