// CUDA C++ as C++: kernels run on the host's processor, block by block. Included before the first
// line of each source.
#pragma once
#include <algorithm>
#include <cassert>
#include <cfenv>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
// These also declare in the global namespace what floats have of their own: `abs` of one is else `int`.
#include <math.h>
#include <stdlib.h>

#ifdef CUDA_ON_CPU_HIP
#include "cuda_on_cpu_hip.h"
#else
#define __CUDACC__ 1
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 800
#endif
#define CUDART_VERSION 12000
#endif
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __builtin_align__(bytes) alignas(bytes)
#define __builtin_assume(condition) static_cast<void>(0)

#include "cuda_on_cpu_types.h"
#include "cuda_on_cpu_stacks.h"
#include "cuda_on_cpu_checks.h"
#include "cuda_on_cpu_block.h"
#include "cuda_on_cpu_faults.h"
#include "cuda_on_cpu_launch.h"
#ifdef CUDA_ON_CPU_CHECK
#include "cuda_on_cpu_races.h"
#include "cuda_on_cpu_hooks.h"
#include "cuda_on_cpu_copies.h"
#include "cuda_on_cpu_undefined.h"
#endif
#include "cuda_on_cpu_warp.h"
#include "cuda_on_cpu_shared.h"
#include "cuda_on_cpu_atomics.h"
#include "cuda_on_cpu_math.h"
#include "cuda_on_cpu_half.h"
#include "cuda_on_cpu_half_more.h"
#include "cuda_on_cpu_runtime.h"
#include "cuda_on_cpu_groups.h"
#ifdef CUDA_ON_CPU_HIP
#include "cuda_on_cpu_hip_warp.h"
#include "cuda_on_cpu_hip_vectors.h"
#include "cuda_on_cpu_hip_fp8.h"
#include "cuda_on_cpu_hip_runtime.h"
#endif
