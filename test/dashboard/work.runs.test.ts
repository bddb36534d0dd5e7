/** How much a page asks of the warehouse, by statements and by rows read: what keeps it fast whatever the machine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerPage } from '../../src/dashboard/answers.ts'
import { readFilters } from '../../src/dashboard/filters.ts'
import { pages } from '../../src/dashboard/pages/pages.ts'
import { MartReader, type Marts } from '../../src/dashboard/reader.ts'
import { type MartColumns, panelStatement } from '../../src/dashboard/statement.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'

const filled = useFilled()
let engine: Engine
let asked: string[] = []
let reader: MartReader
let columns: MartColumns

beforeAll(async () => {
  engine = (await filled.duckdb()).engine
  await buildAll(engine)
  const counting = Object.assign(Object.create(engine) as Engine, {
    close: async () => undefined,
    rows: (sql: string, values?: Parameters<Engine['rows']>[1]) => {
      asked.push(sql)
      return engine.rows(sql, values)
    },
  })
  reader = new MartReader({ open: async () => counting, stamp: () => '', idleMs: 600_000 }, systemClock)
  columns = await reader.read(async (marts: Marts) => marts.columns)
}, 240_000)

afterAll(async () => {
  await reader?.close()
})

interface Operator {
  readonly operator_rows_scanned?: number
  readonly children?: readonly Operator[]
}

const scanned = ({ operator_rows_scanned: own = 0, children = [] }: Operator): number =>
  children.reduce((sum, child) => sum + scanned(child), own)

async function rowsRead(sql: string, values: Parameters<Engine['rows']>[1]): Promise<number> {
  const [row] = await engine.rows<Record<string, string>>(`explain (analyze, format json) ${sql}`, values)
  return scanned(JSON.parse(row?.explain_value ?? '') as Operator)
}

/** Of every mart that the statement names; a view has those that it is made from. */
async function rowsOf(sql: string): Promise<number> {
  let rows = 0
  for (const mart of new Set([...sql.matchAll(/mart\.\w+/g)].map(String)))
    rows += await rowsRead(`select * from ${mart}`, [])
  return rows
}

describe.each(pages.map(page => [page.id, page] as const))('page %s', (_, page) => {
  test('asks at most twice for each panel, and nothing again while the file is the same', async () => {
    asked = []
    const { panels } = await answerPage(reader, page, readFilters(new URLSearchParams('company=none')))
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.length).toBeLessThanOrEqual(2 * panels.length + 1)
    asked = []
    await answerPage(reader, page, readFilters(new URLSearchParams('company=none')))
    expect(asked).toEqual([])
  })

  test('reads no mart more than three times for a panel, and answers with few rows', async () => {
    for (const panel of page.panels) {
      const { sql, values } = panelStatement(panel, readFilters(new URLSearchParams()), columns)
      const [read, rows] = [await rowsRead(sql, values), await engine.rows(sql, values)]
      expect([panel.id, read <= 3 * (await rowsOf(sql)), rows.length <= 500]).toEqual([panel.id, true, true])
    }
  })
})
