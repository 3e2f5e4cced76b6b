"""Tests of every kind, for the tests of the adapter that runs them."""
import os
import time

import pytest


def work(n=100):
    return sum(range(n))


def test_plain(benchmark):
    assert benchmark(work) == 4950


@pytest.mark.parametrize("n", [10, 20], ids=["small/1", "é [x] ::y"])
def test_param(benchmark, n):
    benchmark(work, n)


class TestGroup:
    def test_method(self, benchmark):
        benchmark(work)


def test_no_benchmark():
    assert work() == 4950


def test_unused(benchmark):
    pass


def test_fails_inside(benchmark):
    benchmark(lambda: 1 / 0)


def test_fails_after(benchmark):
    assert benchmark(work) == 1


@pytest.fixture
def broken():
    raise RuntimeError("no such thing")


@pytest.fixture
def leaving():
    yield
    raise RuntimeError("cannot leave")


def test_setup(broken, benchmark):
    benchmark(work)


def test_teardown(leaving, benchmark):
    benchmark(work)


def test_skip(benchmark):
    pytest.skip("not on this machine")


def test_extra(benchmark):
    benchmark.extra_info["odd"] = float("nan")
    benchmark(work)


@pytest.mark.benchmark(min_rounds=3)
def test_own_rounds(benchmark):
    benchmark(work)


@pytest.mark.benchmark(min_time=0.001)
def test_own_time(benchmark):
    benchmark(work)


@pytest.mark.benchmark(disable_gc=True)
def test_own_gc(benchmark):
    benchmark(work)


@pytest.mark.benchmark(max_time=0.0001)
def test_own_max_time(benchmark):
    benchmark(work)


def test_pedantic(benchmark):
    benchmark.pedantic(work, rounds=3, iterations=2)


def test_behave(benchmark):
    how = os.environ.get("BEHAVE", "")
    benchmark(work)
    if how == "exit":
        os._exit(3)
    if how == "abort":
        os.abort()
    while how == "sleep":
        time.sleep(1)
