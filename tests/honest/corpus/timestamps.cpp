// style: reads clocks for itself
// problem: square_cpp
#include <chrono>
#include <cstdint>

static double spent_s = 0;

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  auto start = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * x[i] + 1;
  spent_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
