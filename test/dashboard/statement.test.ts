/** The SQL that a panel shows is the SQL that it runs, with the values written out. */
import { describe, expect, test } from 'vitest'
import { readFilters } from '../../src/dashboard/filters.ts'
import { pages } from '../../src/dashboard/pages/pages.ts'
import { panelStatement, rowsStatement } from '../../src/dashboard/statement.ts'
import { quoteText } from '../../src/warehouse/sql-text.ts'

const panels = pages.flatMap(page => page.panels)
const columnsOf = (mart: string): ReadonlySet<string> =>
  new Set([
    'company_id',
    ...panels.flatMap(({ drill }) => drill?.by ?? []),
    ...panels.map(({ date }) => date ?? mart),
  ])
const columns = new Map(
  panels.flatMap(({ mart, drill }) =>
    [mart, drill?.mart ?? mart].map(name => [name, columnsOf(name)] as const),
  ),
)

/** The values of the statement in its places. */
const writtenOut = ({ sql, values }: { sql: string; values: readonly unknown[] }): string =>
  sql.replace(/\$(\d+)/g, (_, place: string) => quoteText(String(values[Number(place) - 1])))

/** In a replacement that is a text, these stand for parts of what is replaced. */
const values = ['$&', '$`', "$'", '$$', '$1', '$<name>', '{where}', '-- \n', '\\', "'", '%']

describe.each(values)('with the value %j', value => {
  const filters = readFilters(new URLSearchParams({ company: value, from: '2026-01-01' }))

  test('every panel shows what it runs', () => {
    for (const panel of panels) {
      const statement = panelStatement(panel, filters, columns)
      expect([panel.id, statement.shown]).toEqual([panel.id, writtenOut(statement)])
    }
  })

  test('the rows behind every panel are shown by the statement that found them', () => {
    for (const panel of panels.filter(({ drill }) => drill)) {
      const chosen = Object.fromEntries((panel.drill?.by ?? []).map(column => [column, value]))
      const statement = rowsStatement(panel, { filters, chosen, limit: 200 }, columns)
      expect([panel.id, statement.shown]).toEqual([panel.id, writtenOut(statement)])
    }
  })
})
