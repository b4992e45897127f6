// style: a workspace with advice about pages
// problem: square_cpp
#include <cstdint>
#include <cstring>
#include <sys/mman.h>

static float *workspace() {
  const size_t size = 4 << 20;
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, size, MADV_HUGEPAGE);
  return static_cast<float *>(memory);
}

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  static float *work = workspace();
  for (int64_t i = 0; i < n; i++) work[i] = x[i] * x[i];
  for (int64_t i = 0; i < n; i++) out[i] = work[i] + 1;
}
