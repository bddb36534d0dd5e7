/** Commands that work on a warehouse, and may meet each other on it. */
import { collections } from '../../src/contract/catalogue.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import type { Place } from './arena.ts'

export const resources = collections.map(({ name }) => name)

const everywhere = [
  'sync --quiet',
  'sweep --quiet',
  'backfill timesheets --from 2026-01-01 --to 2026-12-31 --quiet',
  'replay --quiet',
  'build --all --quiet',
  'check',
  'crosscheck --quiet --max-requests 40',
  'export --parquet out',
  'docs --out dictionary.html',
  'status',
  'runs',
  'metric timeToFill',
  'dag run nightly',
  'retention',
] as const

/** Only a file is published. */
export const commandsOf = (engine: Engine['kind'], { address, folder }: Place): string[] => [
  ...everywhere,
  ...(engine === 'duckdb' ? ['publish'] : []),
  `copy --from ${address} --to duckdb:${folder}/copied.duckdb`,
  'sql select count(*) from star.fact_timesheet',
]

/** Without what differs from place to place. */
export const nameOf = (words: string): string => words.split(' --')[0]?.slice(0, 30) ?? words
