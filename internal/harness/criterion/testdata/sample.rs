use criterion::{black_box, criterion_group, criterion_main, BenchmarkId, Criterion, Throughput, SamplingMode};
fn plain(c: &mut Criterion) {
    c.bench_function("fib 10", |b| b.iter(|| sample::fib(black_box(10))));
    c.bench_function("fib 100?", |b| b.iter(|| sample::fib(black_box(9))));
}
fn group(c: &mut Criterion) {
    let mut g = c.benchmark_group("sum/all");
    for n in [16u64, 64] {
        g.throughput(Throughput::Bytes(n));
        g.bench_with_input(BenchmarkId::new("bytes", n), &n, |b, &n| b.iter(|| (0..black_box(n)).sum::<u64>()));
    }
    g.finish();
    let mut g = c.benchmark_group("flat");
    g.sampling_mode(SamplingMode::Flat);
    g.bench_function("one", |b| b.iter(|| sample::fib(black_box(15))));
    g.finish();
    let mut g = c.benchmark_group("own");
    g.sample_size(12);
    g.bench_function("size", |b| b.iter(|| sample::fib(black_box(5))));
    g.finish();
}
fn behave(c: &mut Criterion) {
    c.bench_function("panics", |b| b.iter(|| { if std::env::var("CALM").is_err() { panic!("no good") } }));
}
criterion_group!(benches, plain, group, behave);
criterion_main!(benches);
