// Runs one benchmark of a vitest suite by itself. Generated; kept with the results.
import { readFileSync } from 'node:fs';
import { message, settings, write } from './lib.mjs';

const modules = JSON.parse(readFileSync(new URL('./modules.json', import.meta.url), 'utf8'));
const { NodeBenchmarkRunner } = await import(/* @vite-ignore */ modules.runners);
const { getBenchFn, getBenchOptions } = await import(/* @vite-ignore */ modules.suite);

function* benchmarks(task, path) {
  const here = [...path, task.name];
  if (task.meta && task.meta.benchmark) yield { task, name: here.join(' > ') };
  for (const inner of task.tasks || []) yield* benchmarks(inner, here);
}

// Samples are counted and left out: there may be millions.
function shape({ samples, throughput, latency, ...result }) {
  if (samples) result.samplesCount = samples.length;
  if (latency) {
    const { samples, ...rest } = latency;
    result.latency = { ...rest, samplesCount: rest.samplesCount ?? samples.length };
  }
  if (result.error) result.error = message(result.error);
  return result;
}

// The settings of one repetition on top of what the benchmark sets up and tears down.
const options = (given) => ({
  ...given, time: settings.milliseconds, iterations: settings.iterations, throws: false, warmup: false, warmupTime: settings.warmup, warmupIterations: 0,
});

export default class extends NodeBenchmarkRunner {
  async runSuite(file) {
    if (settings.mode === 'list') return;
    for (const { task, name } of benchmarks(file, [])) {
      if (name !== settings.case) continue;
      if (task.mode === 'skip' || task.mode === 'todo') {
        write('result.json', { case: settings.case, version: settings.version, skipped: 'the benchmark is marked as ' + task.mode, runs: [] });
        continue;
      }
      const { Bench } = await this.importTinybench();
      const runs = [];
      for (let i = 0; i < settings.repetitions; i++) {
        const bench = new Bench(options(getBenchOptions(task)));
        bench.add(task.name, getBenchFn(task));
        const measured = bench.getTask(task.name);
        if (i === 0 && settings.warmup > 0) await measured.warmup();
        await measured.run();
        runs.push(shape(measured.result));
        if (runs[i].error) break;
      }
      task.result = { state: 'pass' };
      write('result.json', { case: settings.case, version: settings.version, runs });
    }
  }
}
