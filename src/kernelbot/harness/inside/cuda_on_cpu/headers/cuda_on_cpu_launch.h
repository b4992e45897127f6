// Launches: what is refused as by a GPU, and what `kernel<<<...>>>(...)` is made to be.
#pragma once

namespace cuda_on_cpu {
struct Running {
    CUDA_ON_CPU_UNSEEN Running() {
        __atomic_store_n(&block.host, pthread_self(), __ATOMIC_RELAXED);
        block.running = true;
    }
    CUDA_ON_CPU_UNSEEN ~Running() {
        block.running = false;
        __atomic_store_n(&block.host, pthread_t(0), __ATOMIC_RELAXED);
    }
};

inline const char *why_too_much_shared(size_t fixed_bytes, size_t dynamic_bytes) {
    if (fixed_bytes + dynamic_bytes > DYNAMIC_SHARED_BYTES)
        return "invalid configuration argument: more shared memory than any GPU has.";
#ifndef CUDA_ON_CPU_HIP
    if (fixed_bytes > SHARED_BYTES)
        return "the kernel has more than 49152 bytes of static shared memory: compilers for a GPU "
               "refuse that. Make it dynamic.";
    if (dynamic_bytes > SHARED_BYTES - fixed_bytes && dynamic_bytes > block.asked_bytes)
        return "invalid argument: a block has more than 49152 bytes of shared memory only if the "
               "host asks for it. Call cudaFuncSetAttribute(kernel, "
               "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) before the launch.";
#endif
    return nullptr;
}

inline const char *why_not_launched(dim3 grid, dim3 threads, size_t shared_bytes) {
    uint64_t count = 1ull * threads.x * threads.y * threads.z;
    if (count == 0 || count > MAX_THREADS || threads.z > MAX_THREADS_Z)
        return "invalid configuration argument: a block has from 1 to 1024 threads.";
    if (!grid.x || !grid.y || !grid.z || grid.x > INT_MAX || grid.y > 65535 || grid.z > 65535)
        return "invalid configuration argument: a grid has from 1 to 2147483647 x 65535 x 65535 "
               "blocks.";
    return why_too_much_shared(0, shared_bytes);
}

// Large as a number, or none: what nobody has written shows in results.
inline int garbage_of_block() { return blockIdx.x % 2 ? 0xff : 0x7f; }

inline void run_blocks(dim3 grid, size_t shared_bytes) {
    Running running;
    Watched watched;
    for (unsigned z = 0; z < grid.z && !block.stopped; ++z)
        for (unsigned y = 0; y < grid.y && !block.stopped; ++y)
            for (unsigned x = 0; x < grid.x && !block.stopped; ++x) {
                blockIdx = {x, y, z};
                block.serial += 1;
                fill_bytes(dynamic_shared, garbage_of_block(), shared_bytes);
                run_block();
            }
}

inline void run_grid(dim3 grid, dim3 threads, size_t shared_bytes) {
    blockDim = threads;
    gridDim = grid;
    block.count = threads.x * threads.y * threads.z;
    for (unsigned i = 0; i < block.count; ++i)
        block.threads[i].index = {i % threads.x, i / threads.x % threads.y,
                                  i / (threads.x * threads.y)};
    block.stopped = false;
    block.launch += 1;
    block.static_bytes = 0;
    block.dynamic_bytes = shared_bytes;
    begin_grid(shared_bytes);
    run_blocks(grid, shared_bytes);
    end_grid();
}

// There is one stream: a launch is over when it returns.
struct AnyStream {
    template <class Stream> AnyStream(const Stream &) {}
};

// What `kernel<<<grid, block, shared, stream>>>(arguments)` is made to be.
template <class Kernel> class Launch {
  public:
    Launch(Kernel kernel, dim3 grid, dim3 threads, size_t shared_bytes = 0, AnyStream = nullptr)
        : kernel(kernel), grid(grid), threads(threads), shared_bytes(shared_bytes) {}

    template <class... Given> void operator()(Given &&...given) {
        if (is_in_kernel()) stop("a kernel launches a kernel: that needs a GPU.");
        std::unique_lock<std::mutex> alone(one_launch);
        if (const char *why_not = why_not_launched(grid, threads, shared_bytes))
            set_error(why_not, nullptr, NOT_LAUNCHED);
        else if (!has_error())
            run(std::forward<Given>(given)...);
        report_error();
    }

  private:
    template <class... Given> void run(Given &&...given) {
        using Arguments = std::tuple<std::decay_t<Given>...>;
        struct Call {
            Kernel kernel;
            Arguments arguments;
        } call{kernel, Arguments(std::forward<Given>(given)...)};
        block.arguments = &call;
        block.body = [](void *given) {
            Call &call = *static_cast<Call *>(given);
            std::apply(call.kernel, call.arguments); // by value: each thread has its own
        };
        run_grid(grid, threads, shared_bytes);
    }
    Kernel kernel;
    dim3 grid, threads;
    size_t shared_bytes;
};

// A kernel whose parameters are known: arguments are converted to them when it is launched.
template <class... Parameters> class TypedLaunch {
  public:
    template <class... Config>
    TypedLaunch(void (*kernel)(Parameters...), Config... config) : launch(kernel, config...) {}
    void operator()(Parameters... given) { launch(static_cast<Parameters &&>(given)...); }

  private:
    Launch<void (*)(Parameters...)> launch;
};

template <class... Parameters, class... Config>
auto launch(void (*kernel)(Parameters...), Config... config) {
    return TypedLaunch<Parameters...>(kernel, config...);
}
template <class Kernel, class... Config> auto launch_any(Kernel kernel, Config... config) {
    return Launch<Kernel>(kernel, config...);
}
} // namespace cuda_on_cpu
