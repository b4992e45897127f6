// What the compiler calls, with -fsanitize=alignment and its like, before what C++ leaves undefined
// and a processor does otherwise than a GPU.
#pragma once

namespace cuda_on_cpu {
// The compiler's own, see GCC's ubsan.cc.
struct CompilersType {
    uint16_t kind, info;
    char name[1]; // in quotes, and longer
};
struct CompilersPlace {
    const char *file;
    uint32_t line, column;
};
struct Misaligned {
    CompilersPlace place;
    const CompilersType *type;
    unsigned char alignment_log;
};
struct Mistyped {
    CompilersPlace place;
    const CompilersType *first, *second;
};
constexpr uintptr_t MOST_ALIGNED_BYTES = 16; // of one access of a GPU's

CUDA_ON_CPU_UNSEEN inline bool is_looked_at() {
    return block.running && !block.stopped && is_in_kernel();
}
CUDA_ON_CPU_UNSEEN inline void undefined(const char *does, const char *what_then, void *where) {
    char text[600];
    snprintf(text, sizeof text, "%s. %s", does, what_then);
    stop_thread(text, where);
}
} // namespace cuda_on_cpu

CUDA_ON_CPU_HOOK __ubsan_handle_type_mismatch_v1(void *given, void *address) {
    using namespace cuda_on_cpu;
    auto *data = static_cast<const Misaligned *>(given);
    uintptr_t bytes = std::min(uintptr_t(1) << data->alignment_log, MOST_ALIGNED_BYTES);
    if (!is_looked_at() || reinterpret_cast<uintptr_t>(address) % bytes == 0) return;
    char does[300];
    snprintf(does, sizeof does, "uses %.100s at an address that %zu bytes don't divide",
             data->type->name, bytes);
    undefined(does, "A GPU reports a misaligned address. Check the index, or read smaller elements.",
              __builtin_return_address(0));
}
CUDA_ON_CPU_HOOK __ubsan_handle_shift_out_of_bounds(void *given, void *, void *by) {
    using namespace cuda_on_cpu;
    if (!is_looked_at()) return;
    char does[300];
    snprintf(does, sizeof does, "shifts %.100s by %d bits, which C++ leaves undefined",
             static_cast<const Mistyped *>(given)->first->name,
             static_cast<int>(reinterpret_cast<uintptr_t>(by)));
    undefined(does, "Shift by fewer bits than it has.", __builtin_return_address(0));
}
CUDA_ON_CPU_HOOK __ubsan_handle_float_cast_overflow(void *given, void *) {
    using namespace cuda_on_cpu;
    if (!is_looked_at()) return;
    auto *data = static_cast<const Mistyped *>(given);
    char does[300];
    snprintf(does, sizeof does,
             "converts a %.100s that doesn't fit into %.100s, which C++ leaves undefined",
             data->first->name, data->second->name);
    undefined(does, "Limit it before, or call __float2int_rz or its like.",
              __builtin_return_address(0));
}
CUDA_ON_CPU_HOOK __ubsan_handle_divrem_overflow(void *, void *, void *divisor) {
    using namespace cuda_on_cpu;
    if (!is_looked_at()) return;
    const char *does = divisor ? "divides the smallest integer by -1" : "divides by 0";
    undefined(does, "A GPU gives any value. Check the divisor.", __builtin_return_address(0));
}
