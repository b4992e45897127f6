// style: std::thread, joined in each call
// problem: square_cpp
#include <cstdint>
#include <thread>
#include <vector>

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  const int64_t parts = 3;
  std::vector<std::thread> threads;
  for (int64_t p = 0; p < parts; p++)
    threads.emplace_back([=] {
      for (int64_t i = n * p / parts; i < n * (p + 1) / parts; i++) out[i] = x[i] * x[i] + 1;
    });
  for (auto &thread : threads) thread.join();
}
