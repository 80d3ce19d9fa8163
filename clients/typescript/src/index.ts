/** Ebb from TypeScript: a client of the HTTP API, and workers that run handlers. */
export * from './client.js';
export * from './worker.js';
