// What the drivers of all harnesses share. Generated; kept with the results.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = (name) => new URL(name, import.meta.url);

export const settings = JSON.parse(readFileSync(here('./settings.json'), 'utf8'));
export const suite = pathToFileURL(settings.suite).href;

// Writes a file in one go, so that a process that is killed leaves none or all of it.
export function write(name, value) {
  writeFileSync(here('./' + name + '.part'), JSON.stringify(value));
  renameSync(here('./' + name + '.part'), here('./' + name));
}

// Makes 'writ:harness' the module that the suite imports. With a shim, the suite gets
// that in its place.
export function hook(module, shim) {
  const data = { module, suite, shim: shim && here(shim).href };
  register('./hooks.mjs', import.meta.url, { data });
}

// The version of an installed module, by the address of one of its files.
export function versionOf(name, url) {
  for (let dir = new URL('.', url); ; dir = new URL('..', dir)) {
    const file = new URL('package.json', dir);
    if (existsSync(file)) {
      const manifest = JSON.parse(readFileSync(fileURLToPath(file), 'utf8'));
      if (manifest.name === name) return manifest.version;
    }
    if (dir.pathname === '/') return '';
  }
}

// Names of the cases that were met, for a listing.
const names = [];
export const met = (name) => names.push(name);

export function message(error) {
  return String((error && error.message) || error);
}

// The file of a run: what the harness said for each repetition.
export function finish(runs) {
  write('result.json', { case: settings.case, version: settings.version, runs });
  process.exit(0);
}

// Imports the suite, and lists what it met when it has ended by itself.
export async function drive() {
  process.on('exit', (status) => {
    if (status === 0 && settings.mode === 'list') write('cases.json', { cases: names });
  });
  try {
    return await import(suite);
  } catch (error) {
    console.error(error);
    console.error('Error: ' + message(error));
    process.exit(1);
  }
}
