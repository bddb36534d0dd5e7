/** How each command is run beside the others on one warehouse, or why it is not. */
import { commandSet } from '../../src/cli/commands.ts'
import { collections } from '../../src/contract/catalogue.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import type { Place } from './arena.ts'

export const resources = collections.map(({ name }) => name)

interface Paired {
  readonly words: string | ((place: Place) => string)
  /** The only engine that has it. */
  readonly only?: Engine['kind']
}

/** Of the commands that take more than their name. */
export const given: Readonly<Record<string, Paired>> = {
  sync: { words: 'sync --quiet' },
  sweep: { words: 'sweep --quiet' },
  backfill: { words: 'backfill timesheets --from 2026-01-01 --to 2026-12-31 --quiet' },
  replay: { words: 'replay --quiet' },
  build: { words: 'build --all --quiet' },
  crosscheck: { words: 'crosscheck --quiet --max-requests 40' },
  export: { words: 'export --parquet out' },
  docs: { words: 'docs --out dictionary.html' },
  metric: { words: 'metric timeToFill' },
  'dag run': { words: 'dag run nightly' },
  'dag record': { words: 'dag record nightly outcomes.json' },
  publish: { words: 'publish', only: 'duckdb' },
  copy: { words: ({ address, folder }) => `copy --from ${address} --to duckdb:${folder}/copied.duckdb` },
  sql: { words: 'sql select count(*) from star.fact_timesheet' },
  forget: { words: ({ person }) => `forget worker ${person} --yes` },
  discover: { words: 'discover requisitions ids.txt' },
  metrics: { words: 'metrics --file figures.prom' },
  dashboard: { words: 'dashboard --out pages.html' },
  roles: { words: 'roles', only: 'postgres' },
  serve: { words: 'serve --port 0 --every 1s --no-schedule' },
}

/** Its reason, for each command that nothing is run beside. */
export const alone: Readonly<Record<string, string>> = {
  demo: 'makes a service and a warehouse of its own',
  init: 'writes the settings; opens no warehouse',
  config: 'reads the settings; opens no warehouse',
  schema: 'prints what is declared; opens no warehouse',
  completion: 'prints what is declared; opens no warehouse',
  man: 'prints what is declared; opens no warehouse',
  sandbox: 'is the service; opens no warehouse',
  mcp: 'answers as long as somebody asks: each answer is a query, as of sql',
  get: 'reads the service; opens no warehouse',
  'dag list': 'reads files of DAGs; opens no warehouse',
  'dag export': 'reads files of DAGs; opens no warehouse',
  'workers create': 'writes to the service, whose records are those that every trial compares with',
  'workers update': 'writes to the service, whose records are those that every trial compares with',
  'files upload': 'writes to the service; opens no warehouse',
}

/** A new command is run by its name, unless it is named above. */
const paired: readonly Paired[] = Object.keys(commandSet.commands)
  .filter(name => !(name in alone))
  .map(name => given[name] ?? { words: name })

/** They end when they are told to. */
export const isEndless = (words: string): boolean => words.startsWith('serve ')

export const commandsOf = (engine: Engine['kind'], place: Place): string[] =>
  paired
    .filter(({ only }) => only === undefined || only === engine)
    .map(({ words }) => (typeof words === 'string' ? words : words(place)))

/** Without what differs from place to place. */
export const nameOf = (words: string): string => words.split(/ --| [0-9a-f]{24}/)[0]?.slice(0, 30) ?? words
