/** Statements of checks that are made from the declarations. */
import { type PhysicalTable, physicalTables } from '../../warehouse/schema/physical.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import type { Part } from './check.ts'

const isHistory = ({ schema, name }: PhysicalTable): boolean =>
  schema === 'history' || name.endsWith('_history')

/** Of star and pii. */
export const currentTables: readonly PhysicalTable[] = physicalTables.filter(table => !isHistory(table))

/** `also`: other tables that the statement reads. */
export function part(table: string, select: string, also: readonly string[] = []): Part {
  return { subject: table, reads: [table, ...also], select }
}

export const quoted = (table: string): string => {
  const [schema = '', name = ''] = table.split('.')
  return `${schema}.${quoteName(name)}`
}

/** Joins the statements about one table into one. */
export function byTable(parts: readonly Part[]): Part[] {
  const subjects = [...new Set(parts.map(({ subject }) => subject))]
  return subjects.map(subject => {
    const own = parts.filter(one => one.subject === subject)
    return {
      subject,
      reads: [...new Set(own.flatMap(({ reads }) => reads))],
      select: own.map(({ select }) => select).join('\nunion all\n'),
    }
  })
}
