/** The layers of `src`: what each folder holds, and which folders it may import. Each row names only rows above it. */

export interface Layer {
  /** One idea. */
  readonly holds: string
  /** Folders of `src` that it may import, besides itself and `lib`. */
  readonly imports: readonly string[]
}

export const layers: Readonly<Record<string, Layer>> = {
  lib: { holds: 'small pure pieces: clock, randomness, dates, errors', imports: [] },
  temporary: {
    holds: 'temporary files and folders, what removes them after a kill, and files that users name',
    imports: [],
  },
  contract: { holds: 'the API as data: one file a resource, and what follows from it', imports: [] },
  config: { holds: 'settings and the environment, read once', imports: ['contract'] },
  sandbox: { holds: 'the stand-in service', imports: ['contract'] },
  landing: { holds: 'files of fetched pages and their archives', imports: ['temporary'] },
  api: { holds: 'the HTTP client, the request budget, writes', imports: ['contract'] },
  warehouse: {
    holds: 'the engine interface, DuckDB, PostgreSQL, schema migration',
    imports: ['temporary', 'contract'],
  },
  state: { holds: 'the `ops` tables and their statements', imports: ['contract', 'warehouse'] },
  privacy: {
    holds: 'forgetting a person, and looking for personal data where there must be none',
    imports: ['temporary', 'contract', 'landing', 'warehouse', 'state'],
  },
  load: {
    holds: 'landed pages to stage tables to star rows',
    imports: ['temporary', 'contract', 'warehouse', 'state'],
  },
  marts: { holds: 'marts and checks: headers, order, rebuild', imports: ['contract', 'warehouse', 'state'] },
  events: {
    holds: 'a webhook delivery from its bytes to a change signal',
    imports: ['contract', 'warehouse', 'state'],
  },
  crosscheck: {
    holds: "our metrics beside the service's own, and calibration",
    imports: ['contract', 'api', 'warehouse', 'state'],
  },
  publish: {
    holds: 'the published copy, Parquet export, copying a warehouse',
    imports: ['temporary', 'warehouse', 'state'],
  },
  lake: {
    holds: 'Delta tables of all connections, in a folder or a bucket',
    imports: ['temporary', 'landing', 'warehouse', 'state'],
  },
  dictionary: {
    holds: 'the data dictionary and its pages',
    imports: ['contract', 'warehouse', 'state', 'marts'],
  },
  telemetry: {
    holds: 'what monitoring systems are told: figures, messages about nights, lineage of runs',
    imports: ['temporary', 'contract', 'api', 'warehouse', 'state', 'marts', 'dictionary'],
  },
  semantic: {
    holds: 'one catalogue of marts for BI tools, in the formats that they read',
    imports: ['warehouse', 'marts'],
  },
  dashboard: {
    holds: 'the pages of figures: declared questions to marts, their answers over HTTP, and the front end',
    imports: ['warehouse', 'marts'],
  },
  sync: {
    holds: 'scans, snapshots, fetches by id and sweeps',
    imports: ['contract', 'landing', 'api', 'warehouse', 'state', 'privacy', 'load'],
  },
  app: {
    holds: 'use cases shared by commands, the server and DAGs',
    imports: [
      'temporary',
      'config',
      'contract',
      'landing',
      'api',
      'warehouse',
      'state',
      'privacy',
      'load',
      'marts',
      'events',
      'publish',
      'lake',
      'telemetry',
      'semantic',
      'sync',
    ],
  },
  serve: {
    holds: 'the web server for webhooks, its health, the schedule of DAGs',
    imports: ['warehouse', 'state', 'telemetry', 'events', 'sync'],
  },
  cli: {
    holds: 'arguments, exit codes, the terminal; one command a file',
    imports: [
      'temporary',
      'config',
      'contract',
      'sandbox',
      'api',
      'warehouse',
      'state',
      'privacy',
      'marts',
      'events',
      'crosscheck',
      'publish',
      'lake',
      'dictionary',
      'telemetry',
      'semantic',
      'dashboard',
      'sync',
      'app',
      'serve',
    ],
  },
  main: { holds: 'the entry point', imports: ['config', 'cli'] },
}
