// Measures one benchmark of a mitata script. Generated; kept with the results.
import { drive, hook } from './lib.mjs';

hook('mitata', './shim.mjs');
await drive();
