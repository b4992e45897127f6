// style: a helper that spins while idle
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
    while ((now = turn.load()) == seen) {}
    seen = now;
    for (int64_t i = 0; i < half; i++) to[i] = from[i] * from[i] + 1;
    done.store(now);
  }
}

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  static bool started = (std::thread(help).detach(), true);
  (void)started;
  from = x, to = out, half = n / 2;
  long now = ++turn;
  for (int64_t i = half; i < n; i++) out[i] = x[i] * x[i] + 1;
  while (done.load() != now) {}
}
