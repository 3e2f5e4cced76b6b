import os
import time


def time_plain():
    sum(range(100))


def time_sized(n, how):
    if how == "slow":
        raise NotImplementedError
    sum(range(n))


time_sized.params = [[10, 1000], ["a b", "slow"]]


def time_fails():
    raise ValueError("no good")


def time_skip_all():
    raise NotImplementedError


def time_behave():
    how = os.environ.get("BEHAVE")
    if how == "exit":
        os._exit(3)
    if how == "sleep":
        time.sleep(600)


def track_size():
    return 7
