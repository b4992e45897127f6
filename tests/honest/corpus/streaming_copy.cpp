// style: blocks through a buffer on the stack
// problem: square_cpp
#include <algorithm>
#include <cstdint>
#include <cstring>

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  alignas(64) float block[1024];
  for (int64_t at = 0; at < n; at += 1024) {
    const int64_t size = std::min<int64_t>(1024, n - at);
    for (int64_t i = 0; i < size; i++) block[i] = x[at + i] * x[at + i] + 1;
    std::memcpy(out + at, block, size * sizeof(float));
  }
}
