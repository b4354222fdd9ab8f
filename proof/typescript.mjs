import { register } from 'node:module';
import 'reflect-metadata';

register('./typescript-hooks.mjs', import.meta.url);
