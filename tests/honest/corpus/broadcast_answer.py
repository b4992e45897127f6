# style: a broadcast, read-only mean
# problem: stats
import numpy as np


def custom_kernel(data):
    mean = np.broadcast_to(data.mean(axis=0), (data.shape[1],))
    return dict(mean=mean, top=data.max().item(), count=(data > 0).sum().item())
