// Stands in for mitata in the script that is measured. Generated; kept with the results.
//
// Everything is mitata's own but what decides which benchmarks run, and how long: a
// listing notes them and runs none; otherwise the one benchmark is given to mitata's
// measure, as often as it was ordered, and the script goes no further.
import * as mitata from 'writ:harness';
import { finish, met, message, settings } from './lib.mjs';

export * from 'writ:harness';

let benches = [];
const groups = [];

export function group(name, body) {
  if (typeof name === 'function') return mitata.group(name);
  groups.push(name);
  const result = mitata.group(name, body);
  if (result instanceof Promise) return result.finally(() => groups.pop());
  groups.pop();
  return result;
}

export function bench(...given) {
  const b = mitata.bench(...given);
  benches.push({ b, group: groups.join(' > ') });
  return b;
}

// Each benchmark with each combination of its arguments, the first changing fastest.
function* cases() {
  for (const { b, group } of benches) {
    const keys = Object.keys(b._args);
    const total = keys.reduce((n, key) => n * b._args[key].length, 1);
    for (let i = 0; i < total; i++) {
      const args = {};
      let name = b._name, rest = i;
      for (const key of keys) {
        args[key] = b._args[key][rest % b._args[key].length];
        rest = Math.floor(rest / b._args[key].length);
      }
      for (const key of keys) name = name.replaceAll('$' + key, args[key]);
      yield { name: (group ? group + ' > ' : '') + name, b, args };
    }
  }
}

// What mitata is told: how long, or how many calls, each timed by itself.
function options(b, args) {
  const told = { args, inner_gc: b._gc === 'inner', gc: b._gc ? undefined : false };
  if (settings.milliseconds === 0) {
    const n = settings.iterations;
    return { ...told, min_samples: n, max_samples: n, samples_threshold: n, min_cpu_time: 0, batch_threshold: -1 };
  }
  return { ...told, min_samples: 1, min_cpu_time: settings.milliseconds * 1e6 };
}

export async function run() {
  const chosen = [];
  for (const c of cases()) {
    if (settings.mode === 'list') met(c.name);
    else if (c.name === settings.case) chosen.push(c);
  }
  benches = [];
  if (chosen.length === 0) return { layout: [], context: {}, benchmarks: [] };
  if (chosen.length > 1) throw new Error('two benchmarks are called ' + settings.case);
  const runs = [];
  for (let i = 0; i < settings.repetitions; i++) {
    try {
      const { samples, debug, ...stats } = await mitata.measure(chosen[0].b.f, options(chosen[0].b, chosen[0].args));
      runs.push({ name: settings.case, args: chosen[0].args, stats });
    } catch (error) {
      runs.push({ name: settings.case, error: { message: message(error) } });
      break;
    }
  }
  finish(runs);
}
