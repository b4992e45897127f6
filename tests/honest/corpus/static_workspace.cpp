// style: a static vector that grows
// problem: prefix_cpp
#include <cstddef>
#include <cstdint>
#include <vector>

static std::vector<double> work;

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  if (work.size() < static_cast<std::size_t>(n) + 1) work.resize(n + 1);
  work[0] = 0;
  for (int64_t i = 0; i < n; i++) work[i + 1] = work[i] + x[i];
  for (int64_t i = 0; i < n; i++) out[i] = static_cast<float>(work[i + 1]);
}
