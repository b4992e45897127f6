// style: a helper that spins and yields
// problem: square_cpp
#include <atomic>
#include <cstdint>
#include <thread>

static std::atomic<long> turn{0}, done{0};
static const float *from;
static float *to;
static int64_t half;

static void help() {
  for (long seen = 0;;) {
    long now;
    while ((now = turn.load()) == seen) std::this_thread::yield();
    seen = now;
    for (int64_t i = 0; i < half; i++) to[i] = from[i] * from[i] + 1;
    done.store(now);
  }
}

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  static std::jthread helper(help);
  from = x, to = out, half = n / 2;
  long now = ++turn;
  for (int64_t i = half; i < n; i++) out[i] = x[i] * x[i] + 1;
  while (done.load() != now) std::this_thread::yield();
}
