# style: a dict of an array, a float and an int
# problem: stats
def custom_kernel(data):
    return {"mean": data.mean(0), "top": float(data.max()), "count": int((data > 0).sum())}
