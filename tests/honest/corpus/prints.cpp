// style: iostream and stderr
// problem: square_cpp
#include <cstdint>
#include <cstdio>
#include <iostream>

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  static int calls = 0;
  if (calls++ < 3) {
    std::cout << "size " << n << std::endl;
    std::fprintf(stderr, "call %d\n", calls);
  }
  for (int64_t i = 0; i < n; i++) out[i] = x[i] * x[i] + 1;
}
