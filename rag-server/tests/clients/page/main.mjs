// The chat page in a browser: `node main.mjs`, with what browser.mjs wants.

import {after} from 'node:test';

import './answers.mjs';
import './safety.mjs';
import './agent.mjs';
import './troubles.mjs';
import './access.mjs';
import {end} from './browser.mjs';

after(end);
