/** Every table of the ledger by name, and what their declarations say together. */
import { byIdTables } from './by-id/tables.ts'
import type { LedgerTable, Row } from './declaration.ts'
import { evidenceTables } from './evidence/tables.ts'
import { inboxTables } from './inbox/tables.ts'
import { martTables } from './marts/tables.ts'
import { requestTables } from './requests/tables.ts'
import { runTables } from './runs/tables.ts'
import { scanTables } from './scans/tables.ts'

const declared = {
  ...runTables,
  ...scanTables,
  ...byIdTables,
  ...evidenceTables,
  ...requestTables,
  ...inboxTables,
  ...martTables,
}

/** For Kysely: name with schema -> row. */
export type Ledger = {
  [Name in keyof typeof declared & string as `${(typeof declared)[Name]['schema']}.${Name}`]: Row<
    (typeof declared)[Name]
  >
}

export interface NamedTable extends LedgerTable {
  readonly name: string
}

export const ledgerTables: readonly NamedTable[] = Object.entries(declared).map(([name, table]) => ({
  name,
  ...table,
}))

const published = new Set(ledgerTables.filter(({ isPublished }) => isPublished).map(({ name }) => name))

/** Whether the published copy has a table or view: all of star and mart, and of ops what holds no personal data. */
export const isPublished = (schema: string, name: string): boolean =>
  schema === 'star' || schema === 'mart' || (schema === 'ops' && published.has(name))
