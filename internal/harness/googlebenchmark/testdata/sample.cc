// Benchmarks of every kind, for the tests of the adapter that runs them.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <string>
#include <thread>

#include <unistd.h>

static void work(long n) {
  long total = 0;
  for (long i = 0; i < n; i++) benchmark::DoNotOptimize(total += i);
}

static void BM_Quiet(benchmark::State& state) {
  for (auto _ : state) work(state.range(0));
}
BENCHMARK(BM_Quiet)->Arg(64)->Arg(1024);

static void BM_t(benchmark::State& state) {
  for (auto _ : state) work(100);
}
BENCHMARK(BM_t);
BENCHMARK(BM_t)->Name("BM_thr")->Threads(2);
BENCHMARK(BM_t)->Name("we.ird[x]+$^|(y)*?{1}\\ \xc3\xa9");
BENCHMARK(BM_t)->Iterations(50);
BENCHMARK(BM_t)->Name("BM_repeats")->Repetitions(4);
BENCHMARK(BM_t)->Name("BM_process")->MeasureProcessCPUTime()->UseRealTime();
BENCHMARK(BM_t)->Name("BM_ms")->Unit(benchmark::kMillisecond);
BENCHMARK(BM_t)->Name("BM_s")->Unit(benchmark::kSecond);
BENCHMARK(BM_t)->Name("BM_aggregates")->Repetitions(3)->ReportAggregatesOnly();

static void BM_named(benchmark::State& state) {
  for (auto _ : state) work(state.range(0) + state.range(1));
}
BENCHMARK(BM_named)->ArgNames({"a", "b/c"})->Args({1, 2});

template <class T>
void BM_template(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(T(1));
}
BENCHMARK_TEMPLATE(BM_template, double);

static void BM_counters(benchmark::State& state) {
  for (auto _ : state) work(100);
  state.SetBytesProcessed(state.iterations() * 800);
  state.SetItemsProcessed(state.iterations() * 100);
  state.counters["score"] = 7;
  state.counters["zero"] = 0;  // its coefficient of variation is no number
}
BENCHMARK(BM_counters);

static void BM_not_finite(benchmark::State& state) {
  for (auto _ : state) work(100);
  state.counters["nothing"] = -std::numeric_limits<double>::quiet_NaN();
  state.counters["endless"] = std::numeric_limits<double>::infinity();
}
BENCHMARK(BM_not_finite);

static void BM_error(benchmark::State& state) {
  for (auto _ : state) {
    state.SkipWithError("broken \"here\"");
    break;
  }
}
BENCHMARK(BM_error);

#ifdef SKIPS  // libraries from 1.8 on
static void BM_skip(benchmark::State& state) {
  state.SkipWithMessage("not on this machine");
  for (auto _ : state) {
  }
}
BENCHMARK(BM_skip);
#endif

static void BM_flaky(benchmark::State& state) {
  static int runs = 0;
  if (++runs == 4) state.SkipWithError("fourth time unlucky");
  for (auto _ : state) work(100);
}
BENCHMARK(BM_flaky)->Iterations(100);

static void BM_clash(benchmark::State& state) {
  for (auto _ : state) work(100);
  state.counters["real_time"] = 42;
}
BENCHMARK(BM_clash);

static void BM_label(benchmark::State& state) {
  for (auto _ : state) work(100);
  state.SetLabel("raw\x01" "control");
}
BENCHMARK(BM_label);

static void BM_manual(benchmark::State& state) {
  for (auto _ : state) {
    work(100);
    state.SetIterationTime(1e-6);
  }
}
BENCHMARK(BM_manual)->UseManualTime();

static void BM_zero(benchmark::State& state) {
  for (auto _ : state) state.SetIterationTime(0);
}
BENCHMARK(BM_zero)->UseManualTime()->Iterations(10);

static void BM_complexity(benchmark::State& state) {
  for (auto _ : state) work(state.range(0));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(BM_complexity)->RangeMultiplier(2)->Range(64, 256)->Complexity(benchmark::oN);

static void BM_behave(benchmark::State& state) {
  const char* variable = std::getenv("BEHAVE");
  const std::string how = variable ? variable : "";
  static int runs = 0;
  ++runs;
  for (auto _ : state) work(100);
  if (how == "abort" && runs == 2) std::abort();
  if (how == "exit") std::exit(3);
  if (how == "late") std::atexit([] { std::_Exit(9); });
  if (how == "print") std::cout << "{\"stray\": true}\n";
  while (how == "sleep") std::this_thread::sleep_for(std::chrono::seconds(1));
}
BENCHMARK(BM_behave)->Iterations(10);

// Before main, the program replaces itself by a second start of it.
__attribute__((constructor)) static void again(int, char** argv, char**) {
  const char* how = std::getenv("BEHAVE");
  if (!how || std::string(how) != "again") return;
  if (std::getenv("AGAIN")) {
    (void)!write(2, "once more\n", 10);
    return;
  }
  setenv("AGAIN", "1", 1);
  execv("/proc/self/exe", argv);
  _exit(70);
}

BENCHMARK_MAIN();
