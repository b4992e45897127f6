# style: sorts a copy in place
# problem: sort
def custom_kernel(data):
    mine = data.copy()
    mine.sort(kind="stable")
    return mine
