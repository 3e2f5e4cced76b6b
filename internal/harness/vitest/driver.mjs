// Measures one benchmark of a vitest suite. Generated; kept with the results.
//
// Vitest loads the suite with the project's own configuration; the runner beside this
// file decides which benchmark runs, and how long.
import { hook, message, settings, write } from './lib.mjs';
import { fileURLToPath } from 'node:url';

hook('vitest/node');
const { startVitest } = await import('writ:harness');
write('modules.json', { runners: import.meta.resolve('writ:vitest/runners'), suite: import.meta.resolve('writ:vitest/suite') });

const options = {
  root: settings.root, run: true, watch: false, include: [], passWithNoTests: false, fileParallelism: false, maxWorkers: 1, isolate: false, cache: false,
  runner: fileURLToPath(new URL('./runner.mjs', import.meta.url)), benchmark: { reporters: [{}] }, reporters: [{}], coverage: { enabled: false },
};
const filters = settings.case ? [settings.case.split(' > ')[0]] : [settings.file];
let vitest;
try {
  vitest = await startVitest('benchmark', filters, options);
} catch (error) {
  console.error(error);
  console.error('Error: ' + message(error));
  process.exit(1);
}
const names = [], errors = [];
const walk = (task, path) => {
  for (const error of (task.result && task.result.errors) || []) errors.push(message(error));
  if (task.meta && task.meta.benchmark) names.push([...path, task.name].join(' > '));
  for (const inner of task.tasks || []) walk(inner, inner.type === 'suite' && inner !== task ? [...path, task.name] : [...path, task.name]);
};
for (const file of vitest.state.getFiles()) walk(file, []);
for (const error of vitest.state.getUnhandledErrors()) errors.push(message(error));
await vitest.close();
for (const error of errors) console.error('Error: ' + error);
if (settings.mode === 'list' && errors.length === 0) write('cases.json', { cases: names });
process.exit(errors.length === 0 ? 0 : 1);
