// style: vectors of the compiler's
// problem: square_cpp
#include <cstdint>
#include <cstring>

typedef float v8 __attribute__((vector_size(32)));

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    v8 value;
    std::memcpy(&value, x + i, sizeof value);
    value = value * value + 1.0f;
    std::memcpy(out + i, &value, sizeof value);
  }
  for (; i < n; i++) out[i] = x[i] * x[i] + 1;
}
