/** The tables that npm run coverage:contract prints, from the rows that test/contract/contract.runs.test.ts runs. */

import { markdownTable } from '../docs/table.ts'
import { kinds, type Row } from './row.ts'
import { rows } from './rows.ts'

const titles: Readonly<Record<Row['kind'], string>> = {
  operation: 'operations',
  parameter: 'parameters of paths and queries',
  field: 'fields of bodies',
  key: 'rules of keys',
  error: 'errors of operations',
  limit: 'limits',
  event: 'events',
}

const ofKind = (kind: Row['kind']): Row[] => rows.filter(row => row.kind === kind)

function section(kind: Row['kind']): string {
  const own = ofKind(kind)
  const title = titles[kind]
  const table = markdownTable(
    ['what', 'contract', 'test'],
    own.map(({ what, where }) => [what, where, `${kind} ${what}`]),
  )
  return `## ${title[0]?.toUpperCase()}${title.slice(1)}: ${own.length}\n\n${table}`
}

export function coverageTables(): string {
  const totals = kinds.map(kind => `${ofKind(kind).length} ${titles[kind]}`)
  return [`${rows.length} rows: ${totals.join(', ')}.`, ...kinds.map(section)].join('\n\n')
}
