// Stacks for threads that wait, and going from one to another.
#pragma once
#include <sys/mman.h>
#if !defined(__x86_64__) || defined(CUDA_ON_CPU_UCONTEXT)
#include <ucontext.h>
#endif

namespace cuda_on_cpu {
constexpr size_t STACK_BYTES = 640 << 10; // a GPU has 512 KiB of local memory for a thread
constexpr size_t GUARD_PAGE_BYTES = 4096;
constexpr unsigned MAX_STACKS = 1025;

#if defined(__x86_64__) && !defined(CUDA_ON_CPU_UCONTEXT)
// swapcontext also asks the kernel about signals, which takes a hundred times as long.
extern "C" void cuda_on_cpu_switch(void **save, void *load);
asm(R"(
    .text
    .weak cuda_on_cpu_switch
    .hidden cuda_on_cpu_switch
    .type cuda_on_cpu_switch, @function
cuda_on_cpu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size cuda_on_cpu_switch, . - cuda_on_cpu_switch
)");
struct Stack {
    char *memory = nullptr;
    void *pointer = nullptr;
};
inline void prepare(Stack &stack, void (*entry)()) {
    auto **top = reinterpret_cast<void **>(stack.memory + STACK_BYTES) - 2;
    top[0] = reinterpret_cast<void *>(entry); // an address divisible by 16, as `ret` needs it
    stack.pointer = top - 6;
    std::memset(stack.pointer, 0, 6 * sizeof(void *));
}
inline void go(Stack &from, Stack &to) { cuda_on_cpu_switch(&from.pointer, to.pointer); }
#else
struct Stack {
    char *memory = nullptr;
    ucontext_t context;
};
inline void prepare(Stack &stack, void (*entry)()) {
    getcontext(&stack.context);
    stack.context.uc_stack.ss_sp = stack.memory;
    stack.context.uc_stack.ss_size = STACK_BYTES;
    stack.context.uc_link = nullptr;
    makecontext(&stack.context, entry, 0);
}
inline void go(Stack &from, Stack &to) { swapcontext(&from.context, &to.context); }
#endif

// All stacks, in one mapping: a page is used once a thread has reached it.
struct Stacks {
    Stack scheduler, all[MAX_STACKS];
    unsigned free[MAX_STACKS], free_count = 0;
    char *mapping = nullptr;
    static constexpr size_t EACH_BYTES = STACK_BYTES + GUARD_PAGE_BYTES;

    void open() {
        if (mapping == nullptr) {
            int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
            void *found = mmap(nullptr, EACH_BYTES * MAX_STACKS, PROT_NONE, flags, -1, 0);
            if (found == MAP_FAILED) throw std::bad_alloc();
            mapping = static_cast<char *>(found);
        }
        free_count = 0;
        for (unsigned i = MAX_STACKS; i-- > 0;) free[free_count++] = i;
    }
    unsigned take(void (*entry)()) {
        unsigned number = free[--free_count];
        Stack &stack = all[number];
        if (stack.memory == nullptr) {
            stack.memory = mapping + number * EACH_BYTES + GUARD_PAGE_BYTES;
            if (mprotect(stack.memory, STACK_BYTES, PROT_READ | PROT_WRITE)) throw std::bad_alloc();
        }
        constexpr size_t seen_bytes = 1024; // where a thread's own arrays may be: no zeros
        std::memset(stack.memory + STACK_BYTES - seen_bytes, 0x7f, seen_bytes);
        prepare(stack, entry);
        return number;
    }
    void release(unsigned number) { free[free_count++] = number; }
};
} // namespace cuda_on_cpu
