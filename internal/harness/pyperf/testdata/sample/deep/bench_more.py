def bench_deep():
    pass
