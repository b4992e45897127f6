// style: a table made by the compiler
// problem: prefix_cpp
#include <array>
#include <cstdint>

constexpr auto table = [] {
  std::array<double, 256> made{};
  for (int i = 0; i < 256; i++) made[i] = i % 2 ? 1.0 : 1.0;
  return made;
}();

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) out[i] = static_cast<float>(sum += x[i] * table[i & 255]);
}
