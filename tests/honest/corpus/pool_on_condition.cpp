// style: a helper that waits on a condition variable
// problem: square_cpp
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

static std::mutex guard;
static std::condition_variable changed;
static const float *from;
static float *to;
static int64_t half = 0;
static int64_t asked = 0, done = 0;

static void help() {
  std::unique_lock<std::mutex> lock(guard);
  for (;;) {
    changed.wait(lock, [] { return asked != done; });
    for (int64_t i = 0; i < half; i++) to[i] = from[i] * from[i] + 1;
    done = asked;
    changed.notify_all();
  }
}

extern "C" void custom_kernel(const float *x, float *out, int64_t n) {
  static bool started = (std::thread(help).detach(), true);
  (void)started;
  {
    std::lock_guard<std::mutex> lock(guard);
    from = x, to = out, half = n / 2, asked++;
  }
  changed.notify_all();
  for (int64_t i = n / 2; i < n; i++) out[i] = x[i] * x[i] + 1;
  std::unique_lock<std::mutex> lock(guard);
  changed.wait(lock, [] { return asked == done; });
}
