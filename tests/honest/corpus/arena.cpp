// style: a monotonic memory resource
// problem: prefix_cpp
#include <cstdint>
#include <memory_resource>
#include <vector>

static char memory[1 << 20];

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  std::pmr::monotonic_buffer_resource arena(memory, sizeof memory);
  std::pmr::vector<double> sums(&arena);
  sums.reserve(n);
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sums.push_back(sum += x[i]);
  for (int64_t i = 0; i < n; i++) out[i] = static_cast<float>(sums[i]);
}
