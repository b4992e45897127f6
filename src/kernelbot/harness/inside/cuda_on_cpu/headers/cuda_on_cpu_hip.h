// HIP: what is another way than CUDA from the beginning on. Warps have 64 lanes, as on CDNA.
#pragma once

#define CUDA_ON_CPU_WARP 64
#define __HIP__ 1
#define __HIPCC__ 1
#define __HIP_DEVICE_COMPILE__ 1
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#ifndef USE_ROCM
#define USE_ROCM 1
#endif
#define __AMDGCN_WAVEFRONT_SIZE 64
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 3
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 60300000
