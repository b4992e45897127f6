// What a kernel does that would end the process, as by a null pointer: its launch ends instead, with
// the line and the thread. Of all other code, signals do what they did before.
#pragma once

namespace cuda_on_cpu {
constexpr uintptr_t NULLS_BYTES = 64 << 10; // how far behind a null pointer indices reach it

CUDA_ON_CPU_UNSEEN inline bool is_null(const void *at) {
    return reinterpret_cast<uintptr_t>(at) < NULLS_BYTES;
}
// Ends the launch; `does` says what the thread does.
CUDA_ON_CPU_UNSEEN inline void stop_thread(const char *does, void *where) {
    block.running = false; // what follows isn't the kernel's
    uint3 own = threadIdx;
    char text[700];
    snprintf(text, sizeof text, "thread (%u,%u,%u) of block (%u,%u,%u) %s", own.x, own.y, own.z,
             blockIdx.x, blockIdx.y, blockIdx.z, does);
    stop(text, where);
}
CUDA_ON_CPU_UNSEEN inline void stop_at_null(const void *at, const char *does, void *where) {
    char text[300];
    snprintf(text, sizeof text,
             "%s memory through a null pointer (the address is %#zx). Check where it was set, and "
             "that what allocates has succeeded.",
             does, reinterpret_cast<size_t>(at));
    stop_thread(text, where);
}
} // namespace cuda_on_cpu

// What `assert` calls, in a kernel and in the host's functions.
extern "C" __attribute__((weak, visibility("hidden"), noreturn, used)) void
__assert_fail(const char *condition, const char *file, unsigned line, const char *function) noexcept {
    if (cuda_on_cpu::block.running && cuda_on_cpu::is_in_kernel()) {
        char text[500];
        snprintf(text, sizeof text, "fails its assertion `%.400s`.", condition);
        cuda_on_cpu::stop_thread(text, __builtin_return_address(0));
    }
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, condition);
    std::abort();
}

#if defined(__x86_64__) || defined(__aarch64__)
#include <signal.h>
#include <ucontext.h>

namespace cuda_on_cpu {
struct Interrupted {
    void *where; // the instruction
    const char *does; // how it uses memory
};
CUDA_ON_CPU_UNSEEN inline Interrupted interrupted(const void *context) {
    auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#ifdef __x86_64__
    bool is_write = machine.gregs[REG_ERR] & 2;
    return {reinterpret_cast<void *>(machine.gregs[REG_RIP]), is_write ? "writes" : "reads"};
#else
    return {reinterpret_cast<void *>(machine.pc), "uses"};
#endif
}

// Whether an instruction is of this shared object: a library's may hold a lock.
CUDA_ON_CPU_UNSEEN inline bool is_own_code(void *where) {
    Dl_info found, own;
    return dladdr(where, &found) && dladdr(&error, &own) && found.dli_fbase == own.dli_fbase;
}

CUDA_ON_CPU_UNSEEN inline void describe_address(char *text, size_t size, const siginfo_t &info,
                                                const char *does) {
    auto *at = static_cast<const char *>(info.si_addr);
    const char *stacks = block.stacks.mapping;
    if (info.si_code == SI_KERNEL) // the processor doesn't tell which
        snprintf(text, size,
                 "uses a pointer that is no address. Memory that nobody has written holds such "
                 "values here: check where it was set.");
    else if (at >= stacks && at < stacks + Stacks::EACH_BYTES * MAX_STACKS)
        snprintf(text, size,
                 "needs more than %zu KiB for its own arrays and the functions that it is in. Make "
                 "the arrays smaller, or recurse less.",
                 STACK_BYTES >> 10);
    else
        snprintf(text, size,
                 "%s memory that the program doesn't have (at %p). Check the index; `--check` "
                 "names the array.",
                 does, static_cast<const void *>(at));
}

struct Faults {
    static constexpr int NUMBERS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction before[4];
    stack_t stack_before;

    CUDA_ON_CPU_UNSEEN void restore() {
        for (unsigned i = 0; i < 4; ++i) sigaction(NUMBERS[i], &before[i], nullptr);
    }
};
CUDA_ON_CPU_HIDDEN inline Faults faults;
alignas(16) CUDA_ON_CPU_HIDDEN inline char faults_stack[64 << 10]; // a thread's own may be full

CUDA_ON_CPU_UNSEEN inline void on_fault(int number, siginfo_t *info, void *context) {
    Interrupted at = interrupted(context);
    if (info->si_code <= 0 || !block.running || !is_in_kernel() || !is_own_code(at.where)) {
        faults.restore(); // what was interrupted faults again
        if (info->si_code <= 0) raise(number);
        return;
    }
    void *where = static_cast<char *>(at.where) + 1; // as if a call returned there
    bool is_address = number == SIGSEGV || number == SIGBUS;
    if (is_address && info->si_code != SI_KERNEL && is_null(info->si_addr))
        stop_at_null(info->si_addr, at.does, where);
    char does[400];
    if (number == SIGFPE)
        snprintf(does, sizeof does,
                 "divides an integer by 0, or the smallest one by -1. A GPU gives any value and "
                 "goes on. Check the divisor.");
    else if (number == SIGILL)
        snprintf(does, sizeof does,
                 "comes to a place where the compiler knows that C++ leaves undefined what happens: "
                 "a division by 0, a null pointer, or the end of a function that has to return a "
                 "value.");
    else
        describe_address(does, sizeof does, *info, at.does);
    stop_thread(does, where);
}

// While a kernel runs; others of the host may fault meanwhile.
struct Watched {
    CUDA_ON_CPU_UNSEEN Watched() {
        stack_t own = {};
        own.ss_sp = faults_stack;
        own.ss_size = sizeof faults_stack;
        sigaltstack(&own, &faults.stack_before);
        struct sigaction action = {};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER; // it is left by going to a stack
        for (unsigned i = 0; i < 4; ++i) sigaction(Faults::NUMBERS[i], &action, &faults.before[i]);
    }
    CUDA_ON_CPU_UNSEEN ~Watched() {
        faults.restore();
        sigaltstack(&faults.stack_before, nullptr);
    }
};
} // namespace cuda_on_cpu
#else
namespace cuda_on_cpu {
struct Watched {};
} // namespace cuda_on_cpu
#endif
