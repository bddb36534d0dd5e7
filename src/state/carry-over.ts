/** Copies ledger rows into another warehouse of the same structure; the lifetime of each table decides which. */
import type { Engine } from '../warehouse/engine.ts'
import { qualified } from '../warehouse/schema/structure.ts'
import { quoteName, quoteNames } from '../warehouse/sql-text.ts'
import { ledgerTables, type NamedTable } from './tables.ts'

/** `from` and `into` are SQL names. */
async function replaceRows(
  engine: Engine,
  table: NamedTable,
  { from, into }: { readonly from: string; readonly into: string },
): Promise<void> {
  const names = quoteNames(Object.keys(table.columns))
  await engine.run(`delete from ${into}`)
  await engine.run(`insert into ${into} (${names}) select ${names} from ${from}`)
}

/** Copies into a new, attached file what its landed pages cannot restore. */
export async function carryOverLedger(engine: Engine, attached: string): Promise<void> {
  for (const table of ledgerTables)
    if (table.lifetime === 'lasting')
      await replaceRows(engine, table, { from: qualified(table), into: `${attached}.${qualified(table)}` })
}

/** On a server, copies the ledger of a replay from schemas with another prefix. Runs inside a transaction. */
export async function takeReplayedLedger(engine: Engine, prefix: string): Promise<void> {
  for (const table of ledgerTables) {
    const from = `${quoteName(prefix + table.schema)}.${quoteName(table.name)}`
    if (table.lifetime === 'replayed') await replaceRows(engine, table, { from, into: qualified(table) })
  }
}
