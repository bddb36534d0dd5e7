/** A snapshot whose rows slide past its reading, because others go and come between two pages. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type Bench, describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const path = '/requisitions/recruitment-metrics'
const row = (number: number) => ({ reqRef: `R-${number}`, reqCreated: '01/03/2026', timeToOfferDays: 3 })
type Row = ReturnType<typeof row>
const rowsUpTo = (count: number): Row[] => Array.from({ length: count }, (_, index) => row(index))

interface SnapshotOptions {
  /** The rows of a request, with its number; `to` is the end of its part. */
  readonly rowsOf: (asked: number, page: number, to: string | undefined) => readonly Row[]
  readonly write?: (row: Row, asked: number) => string
}

/** A list of metric rows in memory, synced on a given day, and the rows that the warehouse has stored of it. */
async function openMetricRows(bench: Bench, { rowsOf, write = row => JSON.stringify(row) }: SnapshotOptions) {
  let asked = 0
  const sandbox = await openSandbox({
    records: { companies: [{ id: 'c1', name: 'Company 1' }] },
    intercept: ({ path: at, query }) => {
      if (at !== path) return undefined
      const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 50)]
      asked += 1
      const rows = rowsOf(asked, page, query.to === undefined ? undefined : String(query.to))
      const data = rows.slice((page - 1) * limit, page * limit).map(row => write(row, asked))
      const meta = JSON.stringify({ page, limit, total: rows.length })
      return { status: 200, body: `{"success":true,"data":[${data.join()}],"meta":${meta}}` }
    },
  })
  const warehouse = await bench.warehouse()
  return {
    /** The number of requests for rows. */
    sync: async (day: number): Promise<number> => {
      const before = asked
      const clock = { now: () => Date.UTC(2026, 2, 2 + day), sleep: async () => undefined }
      const { failure } = await syncOnce(sandbox, warehouse, {
        request: { resources: ['metric-rows'] },
        effects: { clock },
      })
      expect(failure, `the sync of day ${day}`).toBeUndefined()
      return asked - before
    },
    stored: async (): Promise<string[]> => {
      const rows = await warehouse.engine.rows<{ ref: string }>(
        `select requisition_reference as ref from star.fact_recruitment_metric_row`,
      )
      return rows.map(({ ref }) => ref).sort()
    },
  }
}

const references = (rows: readonly Row[]): string[] => rows.map(({ reqRef }) => reqRef).sort()

/** Two parts of two pages. */
const onePass = 4

describeOnEngines('a snapshot of several pages', bench => {
  test('removes what is gone, and no row that slid past one reading', async () => {
    let rows = rowsUpTo(250)
    let moves = 0
    const { sync, stored } = await openMetricRows(bench, {
      rowsOf: (asked, page) => {
        if (page === 2 && moves > 0) {
          moves -= 1
          rows = [...rows.filter((_, index) => index !== 4), row(1000 + asked)]
        }
        return rows
      },
    })
    await sync(0)
    expect(await stored(), 'after the first sync').toEqual(references(rows))

    moves = 1
    expect(await sync(8), 'requests while a row slides').toBeGreaterThan(onePass)
    expect(await stored(), 'after a row slid').toEqual(references(rows))

    expect(await sync(16), 'requests of a list at rest').toBe(onePass)
  })

  test('is proved where each answer writes its rows in another order of keys and another spelling', async () => {
    let rows = rowsUpTo(250)
    const { sync, stored } = await openMetricRows(bench, {
      rowsOf: (_, __, to) => (to ? [] : rows),
      write: ({ reqRef, reqCreated }, asked) => {
        const texts = [`"reqRef":"\\u0052${reqRef.slice(1)}"`, `"reqCreated":"${reqCreated}"`]
        const all = [...texts, `"timeToOfferDays": 3.${'0'.repeat(asked)}`]
        return `{${(asked % 2 === 0 ? all : all.toReversed()).join()}}`
      },
    })
    await sync(0)
    expect(await stored(), 'after the first sync').toHaveLength(250)

    rows = [...rows.slice(2), row(1000)]
    await sync(8)
    expect(await stored(), 'after two rows went and one came').toHaveLength(249)
  })
})
