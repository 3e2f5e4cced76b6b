import { bench } from 'vitest';
import { nothing } from './no-such-module';

bench('never', () => nothing());
