// style: thread_local and atomics
// problem: prefix_cpp
#include <atomic>
#include <cstdint>

static std::atomic<int> calls{0};
static thread_local double sum;

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  calls.fetch_add(1, std::memory_order_relaxed);
  sum = 0;
  for (int64_t i = 0; i < n; i++) out[i] = static_cast<float>(sum += x[i]);
}
