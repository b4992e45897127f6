// style: OpenMP whose threads are bound to processors
// problem: square_cpp
#include <cstdint>
#include <cstdlib>
#include <omp.h>

__attribute__((constructor)) static void choose() {
  setenv("OMP_PROC_BIND", "spread", 1);
  setenv("OMP_PLACES", "cores", 1);
  omp_set_num_threads(4);
}

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
#pragma omp parallel for schedule(static) proc_bind(spread)
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * x[i] + 1;
}
