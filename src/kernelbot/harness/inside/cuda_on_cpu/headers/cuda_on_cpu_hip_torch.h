// For extensions of torch whose sources are HIP.
#pragma once
#include <torch/extension.h>

#define CUDA_ON_CPU_HIP 1
#include "cuda_on_cpu_torch.h"
