import { bench, do_not_optimize, group, run, summary } from 'mitata';

bench('plain', () => do_not_optimize(1 + 1));
group('sums', () => {
  summary(() => {
    bench('loop($n, $m)', function* (state) {
      const n = state.get('n');
      yield () => {
        let sum = 0;
        for (let i = 0; i < n; i++) sum += i;
        return do_not_optimize(sum);
      };
    }).args({ n: [1, 1000], m: ['x', 'y'] });
  });
});
bench('throws', () => {
  throw new Error('no good');
});
bench('twice', () => {});
await run();
bench('second run', async () => {
  await null;
});
await run({ format: 'quiet' });
