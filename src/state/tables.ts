/** Lists every ledger table by name, for Kysely, migration and the published copy. */
import { tablesNamed } from '../warehouse/schema/schemas.ts'
import { sqlFiles } from '../warehouse/sql-files.ts'
import { byIdTables } from './by-id/tables.ts'
import type { LedgerRow, LedgerTable } from './declaration.ts'
import { evidenceTables } from './evidence/tables.ts'
import { inboxTables } from './inbox/tables.ts'
import { martTables } from './marts/tables.ts'
import { notificationTables } from './notifications/tables.ts'
import { privacyTables } from './privacy-tables.ts'
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
  ...privacyTables,
  ...notificationTables,
}

/** For Kysely: name with schema -> row. */
export type Ledger = {
  [Name in keyof typeof declared & string as `${(typeof declared)[Name]['schema']}.${Name}`]: LedgerRow<
    (typeof declared)[Name]
  >
}

/** Name of a table, without its schema. */
export type LedgerName = keyof typeof declared

export interface NamedTable extends LedgerTable {
  readonly name: string
}

export const ledgerTables: readonly NamedTable[] = Object.entries(declared).map(([name, table]) => ({
  name,
  ...table,
}))

/** Name of a table in queries, for messages that refer to it. */
export const tableInQueries = (name: keyof typeof declared): string => `${declared[name].schema}.${name}`

const published = new Set(ledgerTables.filter(({ isPublished }) => isPublished).map(({ name }) => name))

let views: ReadonlySet<string> | undefined

/** Views of ops that read nothing but published tables. */
function publishedViews(): ReadonlySet<string> {
  views ??= new Set(
    sqlFiles('view').flatMap(({ text }) => {
      const name = /create view ops\.(\w+)/.exec(text)?.[1]
      const isOpen = tablesNamed(text)
        .map(place => place.split('.'))
        .every(([schema = '', source = '']) => source === name || isPublished(schema, source))
      return name !== undefined && isOpen ? [name] : []
    }),
  )
  return views
}

/** What marts compute with and a sync alone does not change: a lake has it, so that another engine can compute them. */
export const ledgerOfMarts: ReadonlySet<string> = new Set([
  'ops.accrual_month_end',
  'ops.company_currency',
  'ops.crosscheck',
  'ops.metric_definition',
])

/** Whether the published copy has a table or view: all of star and mart, and ops without personal data. */
export const isPublished = (schema: string, name: string): boolean =>
  schema === 'star' ||
  schema === 'mart' ||
  (schema === 'ops' && (published.has(name) || publishedViews().has(name)))
