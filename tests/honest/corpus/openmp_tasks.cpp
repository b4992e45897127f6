// style: OpenMP tasks
// problem: square_cpp
#include <algorithm>
#include <cstdint>

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(16384)
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * x[i] + 1;
}
