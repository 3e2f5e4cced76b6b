"""Functions of every kind, for the tests of the adapter that runs them."""
import os
import time
from os.path import join  # defined elsewhere

if os.environ.get("BEHAVE") == "slow-import":
    time.sleep(1)
limit = os.environ.get("OPENBLAS_NUM_THREADS")


def bench_sum():
    return sum(range(100))


def bench_threads():
    if limit != "1":
        raise RuntimeError("OPENBLAS_NUM_THREADS is %r, not '1'" % limit)


def benchmark_join():
    join("a", "b")


def bench_sleep():
    time.sleep(3600)


def bench_die():
    os._exit(7)


def work():
    pass


def _bench_private():
    pass


async def bench_async():
    pass


def bench_generator():
    yield 1


class bench_class:
    pass


bench_value = 3
