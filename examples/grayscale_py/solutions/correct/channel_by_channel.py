# Three strided passes and their temporaries.
def custom_kernel(data):
    return 0.2989 * data[..., 0] + 0.5870 * data[..., 1] + 0.1140 * data[..., 2]
