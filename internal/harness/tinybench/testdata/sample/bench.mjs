// A script as people write them: it runs its benches and prints a table.
import { Bench } from 'tinybench';

const first = new Bench({ name: 'sum', time: 100 });
first
  .add('loop', () => {
    let sum = 0;
    for (let i = 0; i < 100; i++) sum += i;
    return sum;
  })
  .add('async [é] $1', async () => {
    await null;
  })
  .add('throws', () => {
    throw new Error('no good');
  })
  .add('behave', () => {
    if (process.env.BEHAVE === 'exit') process.exit(3);
    if (process.env.BEHAVE === 'quit') process.exit(0);
    if (process.env.BEHAVE === 'sleep') for (;;);
    if (process.env.BEHAVE === 'kill') process.kill(process.pid, 'SIGKILL');
  });
await first.run();
console.table(first.table());

const second = new Bench();
second.add('sync', () => {});
second.runSync();

export const third = new Bench({ name: 'never run' });
third.add('exported', () => {});
