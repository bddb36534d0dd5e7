/** Finds what a mart reads and in which state: while both stay the same, so do the rows of the mart. */

import { createHash } from 'node:crypto'
import { catalogue } from '../contract/catalogue.ts'
import { tablesOf } from '../contract/fields/table.ts'
import { defaultDays } from '../lib/day-rule.ts'
import { eventsState, ledgerStates, type SourceState } from '../state/marts/source-state.ts'
import { everyTable } from '../state/marts/writes.ts'
import type { Engine } from '../warehouse/engine.ts'
import { memberTables } from '../warehouse/schema/physical.ts'
import { tablesNamed } from '../warehouse/schema/schemas.ts'
import { structureFiles } from '../warehouse/schema/seed.ts'
import { decidingText } from './columns.ts'
import { type ReportingTime, timeInputsOf } from './inputs.ts'
import { type Mart, martsRead } from './mart.ts'
import { fillStatement } from './table.ts'

interface CountedWrites {
  /** With their schema. */
  readonly tables: readonly string[]
  /** Columns that a touch moves, except row_hash, which no statement reads. */
  readonly bookkeeping: readonly string[]
}

const rowBookkeeping = ['source_updated_at', 'loaded_at', 'run_id']

const ofRecords = catalogue.map(({ name, table }): [string, CountedWrites] => {
  const tables = tablesOf(table)
  const own = tables.flatMap(({ columns }) => Object.keys(columns).filter(one => columns[one]?.bookkeeping))
  return [
    name,
    {
      tables: tables.flatMap(one => [`star.${one.name}`, `history.${one.name}`]),
      bookkeeping: [...rowBookkeeping, ...own],
    },
  ]
})
const ofMembers = [...memberTables].map(([name, table]): [string, CountedWrites] => [
  name,
  { tables: [`star.${table.name}`], bookkeeping: rowBookkeeping },
])

/** By the name under which the writes are counted. */
export const countedWrites: ReadonlyMap<string, CountedWrites> = new Map([...ofRecords, ...ofMembers])

const viewMade = /create (?:or replace )?view (\w+\.\w+)/g

let viewTexts: ReadonlyMap<string, string> | undefined

const textsOfViews = (): ReadonlyMap<string, string> => {
  viewTexts ??= new Map(
    structureFiles().flatMap(({ text }) =>
      [...text.matchAll(viewMade)].map(([, view = '']) => [view, text] as const),
    ),
  )
  return viewTexts
}

const sampleTime = { asOf: null, today: '', ...defaultDays, now: '' }

/** Tables and views that the statement of a mart reads, and the tables behind those views. */
export function inputsOf(mart: Mart): ReadonlySet<string> {
  const found = new Set<string>()
  const add = (sql: string): void => {
    for (const table of tablesNamed(sql)) {
      if (found.has(table)) continue
      found.add(table)
      add(textsOfViews().get(table) ?? '')
    }
  }
  add(fillStatement(mart, 'filled', sampleTime))
  return found
}

function writesOf(mart: Mart, inputs: ReadonlySet<string>, { writes }: SourceState): string[] {
  const texts = [decidingText(mart), ...[...inputs].map(table => textsOfViews().get(table) ?? '')]
  const words = new Set(texts.join(' ').match(/\w+/g))
  const read = [...countedWrites].filter(([, { tables }]) => tables.some(table => inputs.has(table)))
  return [
    `${everyTable} ${writes.get(everyTable)?.changes ?? 0}`,
    ...read.map(([name, { bookkeeping }]) => {
      const { changes = 0, touches = 0 } = writes.get(name) ?? {}
      return `${name} ${changes}${bookkeeping.some(column => words.has(column)) ? ` and ${touches}` : ''}`
    }),
  ]
}

/**
 * Returns the same text as long as the rows stay the same. `state` is from before the build: later commits may
 * already be in the mart, and the next build builds it again. `builtAt` gives the time at which another mart was last
 * built.
 */
export async function sourcesOf(
  engine: Engine,
  mart: Mart,
  {
    state,
    time,
    builtAt,
  }: { state: SourceState; time: ReportingTime; builtAt: (name: string) => string | null },
): Promise<string> {
  const inputs = inputsOf(mart)
  const statement = createHash('sha256')
    .update(fillStatement(mart, 'filled', sampleTime))
    .digest('hex')
  const parts = [
    `statement ${statement.slice(0, 12)}`,
    state.structure,
    ...writesOf(mart, inputs, state),
    timeInputsOf(decidingText(mart), time),
    ...martsRead(mart).map(name => `mart.${name} ${builtAt(name)}`),
    ...(await ledgerStates(engine, [...inputs])),
    inputs.has('star.fact_webhook_event') ? await eventsState(engine) : '',
  ]
  return parts.filter(part => part !== '').join('; ')
}
