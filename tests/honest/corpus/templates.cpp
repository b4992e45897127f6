// style: templates, concepts and a fold
// problem: square_cpp
#include <concepts>
#include <cstdint>
#include <utility>

template <std::floating_point T, int... I>
static inline void unrolled(const T *x, T *out, std::integer_sequence<int, I...>) {
  ((out[I] = x[I] * x[I] + 1), ...);
}

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) unrolled(x + i, out + i, std::make_integer_sequence<int, 16>());
  for (; i < n; i++) out[i] = x[i] * x[i] + 1;
}
