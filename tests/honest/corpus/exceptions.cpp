// style: throws and catches within
// problem: square_cpp
#include <cstdint>
#include <stdexcept>

static float checked(float value) {
  if (value != value) throw std::domain_error("not a number");
  return value * value + 1;
}

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    try {
      out[i] = checked(x[i]);
    } catch (const std::domain_error &) {
      out[i] = x[i];
    }
  }
}
