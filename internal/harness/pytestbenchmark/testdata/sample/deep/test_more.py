def test_more(benchmark):
    benchmark(len, "abc")
