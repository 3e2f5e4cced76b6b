// Tells what runs a suite, and which version of the harness it imports.
import { hook, message, settings, versionOf, write } from './lib.mjs';

hook(settings.module);
const told = { node: process.versions.node, v8: process.versions.v8, version: '', missing: '' };
try {
  told.version = versionOf(settings.package, import.meta.resolve('writ:harness'));
} catch (error) {
  told.missing = message(error);
}
write('node.json', told);
