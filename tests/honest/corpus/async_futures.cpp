// style: std::async
// problem: square_cpp
#include <cstdint>
#include <future>

static void work(const float *x, float *out, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) out[i] = x[i] * x[i] + 1;
}

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  auto first = std::async(std::launch::async, work, x, out, 0, n / 2);
  work(x, out, n / 2, n);
  first.get();
}
