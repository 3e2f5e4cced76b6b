import { bench, describe } from 'vitest';
import { sum } from '@/sum';

bench('top', () => {
  sum(100);
});
describe('outer', () => {
  describe('inner', () => {
    bench('deep', async () => {
      await null;
    }, { time: 30, iterations: 7 });
  });
  bench('throws', () => {
    throw new Error('no good');
  });
  bench.skip('skipped', () => {});
});
