// What went wrong in a launch, kept until it is asked for; and, with CUDA_ON_CPU_CHECK, each access
// of memory looked at.
#pragma once
#include <dlfcn.h>
#define CUDA_ON_CPU_UNSEEN __attribute__((no_sanitize("thread")))
#define CUDA_ON_CPU_EXPORTED extern "C" __attribute__((visibility("default"), used))

namespace cuda_on_cpu {
struct Error {
    char text[800];
    int code; // what the runtime's calls say
    bool is_set, is_reported;
};
__attribute__((visibility("hidden"))) inline Error error;

inline bool is_of_header(const char *line) {
    return strstr(line, ".h:") != nullptr || strstr(line, ".hpp:") != nullptr ||
           strstr(line, ".cuh:") != nullptr;
}

// A line and a text may be cut off: what the compiler would say of that isn't for the author.
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wformat-truncation"
#endif
// The author's line with an address of code, or a header's that it wasn't inlined from; empty if
// that can't be found out.
inline void find_line(void *where, char *line, size_t size) {
    Dl_info found;
    line[0] = 0;
    if (where == nullptr || !dladdr(where, &found) || found.dli_fname == nullptr) return;
    char command[600];
    auto offset = static_cast<char *>(where) - static_cast<char *>(found.dli_fbase) - 1;
    snprintf(command, sizeof command, "addr2line -s -i -e '%s' %#lx 2>/dev/null", found.dli_fname,
             static_cast<unsigned long>(offset));
    FILE *output = popen(command, "r");
    if (output == nullptr) return;
    char outer[200];
    if (fgets(line, static_cast<int>(size), output) == nullptr || line[0] == '?') line[0] = 0;
    while (is_of_header(line) && fgets(outer, sizeof outer, output) != nullptr)
        if (!is_of_header(outer) && outer[0] != '?') snprintf(line, size, "%s", outer);
    pclose(output);
    line[strcspn(line, " \n")] = 0;
}

constexpr int LAUNCH_FAILED = 719, NOT_LAUNCHED = 9;

// The first error counts.
inline void set_error(const char *text, void *where = nullptr, int code = LAUNCH_FAILED) {
    if (error.is_set) return;
    char line[200];
    find_line(where, line, sizeof line);
    error.is_set = true;
    error.is_reported = false;
    error.code = code;
    snprintf(error.text, sizeof error.text, "%s%s%s", line, line[0] ? ": " : "", text);
}
#pragma GCC diagnostic pop
inline bool has_error() { return error.is_set; }

#ifdef CUDA_ON_CPU_THROWS
inline void report_error() {
    if (!error.is_set) return;
    error.is_set = false;
    throw std::runtime_error(error.text);
}
#else
inline void report_error() {
    if (!error.is_set || error.is_reported) return;
    error.is_reported = true;
    fprintf(stderr, "%s\n", error.text);
}
#endif

CUDA_ON_CPU_EXPORTED inline const char *cuda_on_cpu_error() {
    return error.is_set ? error.text : nullptr;
}
} // namespace cuda_on_cpu

#ifdef CUDA_ON_CPU_CHECK // the linker has all else call the functions of cuda_on_cpu_copies.h
extern "C" void *__real_memmove(void *, const void *, size_t);
extern "C" void *__real_memset(void *, int, size_t);
#define CUDA_ON_CPU_MOVE __real_memmove
#define CUDA_ON_CPU_FILL __real_memset
#else
#define CUDA_ON_CPU_MOVE std::memmove
#define CUDA_ON_CPU_FILL std::memset
#endif

namespace cuda_on_cpu {
// Who may use an array: kernels alone, or the host as well.
enum class Owner : unsigned char { GPU, BOTH };

// Each access is looked at, but for these, which are ours.
__attribute__((noinline)) CUDA_ON_CPU_UNSEEN inline void copy_bytes(void *to, const void *from,
                                                                    size_t bytes) {
    if (bytes) CUDA_ON_CPU_MOVE(to, from, bytes);
}
__attribute__((noinline)) CUDA_ON_CPU_UNSEEN inline void fill_bytes(void *at, int value,
                                                                    size_t bytes) {
    if (bytes) CUDA_ON_CPU_FILL(at, value, bytes);
}
} // namespace cuda_on_cpu

#ifdef CUDA_ON_CPU_CHECK
#include "cuda_on_cpu_accesses.h"
#else
namespace cuda_on_cpu {
inline void begin_grid(size_t) {}
inline void begin_block() {}
inline void synchronised_block() {}
inline void synchronised_warp(unsigned) {}
inline void some_had_ended() {}
inline bool is_one_place() { return true; }
inline void end_grid() {}
inline void add_array(const void *, size_t, const char *, Owner) {}
inline void remove_array(const void *) {}
inline void touch_atomically(const void *, size_t, void *) {}
} // namespace cuda_on_cpu
#endif
