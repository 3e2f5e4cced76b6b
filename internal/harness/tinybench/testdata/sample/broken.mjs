import { Bench } from 'tinybench';

const bench = new Bench().add('a', () => {});
const [task] = await bench.run();
console.log(task.result.latency.mean); // a listing has none
