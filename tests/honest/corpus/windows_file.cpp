// style: a BOM and CR LF
// problem: square_cpp
#include <cstdint>

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    out[i] = x[i] * x[i] + 1;
}
