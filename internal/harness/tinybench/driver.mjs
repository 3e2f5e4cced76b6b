// Measures one task of a tinybench script. Generated; kept with the results.
//
// The script is run as it is. Whatever Bench it runs is taken here: a listing notes its
// tasks and runs none; otherwise the one task runs as often as it was ordered, each time
// by the Bench itself, and the script goes no further.
import { drive, finish, hook, met, message, settings } from './lib.mjs';

hook('tinybench');
const { Bench } = await import('writ:harness');
const original = { run: Bench.prototype.run, runSync: Bench.prototype.runSync };
const taken = new Set();
const nameOf = (bench, task) => (bench.name ? bench.name + ' > ' : '') + task.name;

// Samples are counted and left out: there may be millions.
function shape({ samples, throughput, ...result }) {
  if (samples) result.samplesCount = samples.length;
  if (result.latency) {
    const { samples, ...latency } = result.latency;
    result.latency = { ...latency, samplesCount: latency.samplesCount ?? samples.length };
  }
  if (result.error) result.error = message(result.error);
  return result;
}

// The settings of one repetition. Only the first is warmed up.
function prepare(bench, first) {
  Object.assign(bench.opts ?? bench, {
    time: settings.milliseconds, iterations: settings.iterations, concurrency: null, throws: false, retainSamples: false,
    warmup: first && settings.warmup > 0, warmupTime: settings.warmup, warmupIterations: 0,
  });
  bench.reset();
}

function select(bench) {
  taken.add(bench);
  if (settings.mode === 'list') {
    for (const task of bench.tasks) met(nameOf(bench, task));
    return undefined;
  }
  const chosen = bench.tasks.find((task) => nameOf(bench, task) === settings.case);
  if (chosen) for (const task of bench.tasks) if (task !== chosen) bench.remove(task.name);
  return chosen;
}

Bench.prototype.run = async function run() {
  const task = select(this);
  if (!task) return [];
  const runs = [];
  for (let i = 0; i < settings.repetitions; i++) {
    prepare(this, i === 0);
    await original.run.call(this);
    runs.push(shape(task.result));
    if (runs[i].error) break;
  }
  finish(runs);
};

Bench.prototype.runSync = function runSync() {
  const task = select(this);
  if (!task) return [];
  const runs = [];
  for (let i = 0; i < settings.repetitions; i++) {
    prepare(this, i === 0);
    original.runSync.call(this);
    runs.push(shape(task.result));
    if (runs[i].error) break;
  }
  finish(runs);
};

const exported = await drive();
for (const value of Object.values(exported)) {
  if (value instanceof Bench && !taken.has(value)) await value.run();
}
