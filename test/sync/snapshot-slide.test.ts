/** A snapshot whose rows slide past its reading, because others go and come between two pages. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../warehouse/fixture.ts'

const path = '/requisitions/recruitment-metrics'
const row = (number: number) => ({ reqRef: `R-${number}`, reqCreated: '01/03/2026', timeToOfferDays: 3 })

describeOnEngines('a snapshot of several pages', bench => {
  test('removes what is gone, and no row that slid past one reading', async () => {
    let rows = Array.from({ length: 250 }, (_, index) => row(index))
    let moves = 0
    let asked = 0
    const sandbox = await openSandbox({
      records: { companies: [{ id: 'c1', name: 'Company 1' }] },
      intercept: ({ path: at, query }) => {
        if (at !== path) return undefined
        const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 50)]
        asked += 1
        if (page === 2 && moves > 0) {
          moves -= 1
          rows = [...rows.filter((_, index) => index !== 4), row(1000 + asked)]
        }
        const data = rows.slice((page - 1) * limit, page * limit)
        return {
          status: 200,
          body: JSON.stringify({ success: true, data, meta: { page, limit, total: rows.length } }),
        }
      },
    })
    const warehouse = await bench.warehouse()
    let day = 0
    const clock = { now: () => Date.UTC(2026, 2, 2 + day), sleep: async () => undefined }
    const sync = () =>
      syncOnce(sandbox, warehouse, { request: { resources: ['metric-rows'] }, effects: { clock } })
    const held = async () =>
      (
        await warehouse.engine.rows<{ ref: string }>(
          `select requisition_reference as ref from star.fact_recruitment_metric_row`,
        )
      ).map(({ ref }) => ref)
    expect((await sync()).failure).toBeUndefined()
    expect((await held()).sort()).toEqual(rows.map(({ reqRef }) => reqRef).sort())
    // Two parts of two pages; new rows are read again.
    const onePass = 4
    const before = asked
    day = 8
    moves = 1
    expect((await sync()).failure).toBeUndefined()
    expect((await held()).sort()).toEqual(rows.map(({ reqRef }) => reqRef).sort())
    expect(asked - before).toBeGreaterThan(onePass)
    // Nothing goes, nothing is asked twice.
    day = 16
    const settled = asked
    expect((await sync()).failure).toBeUndefined()
    expect(asked - settled).toBe(onePass)
  })
  test('is proved where each answer writes its rows in another order of keys and another spelling', async () => {
    let rows = Array.from({ length: 250 }, (_, index) => row(index))
    let asked = 0
    const written = ({ reqRef, reqCreated }: (typeof rows)[number]) => {
      const texts = [`"reqRef":"\\u0052${reqRef.slice(1)}"`, `"reqCreated":"${reqCreated}"`]
      const all = [...texts, `"timeToOfferDays": 3.${'0'.repeat(asked)}`]
      return `{${(asked % 2 === 0 ? all : all.toReversed()).join()}}`
    }
    const sandbox = await openSandbox({
      records: { companies: [{ id: 'c1', name: 'Company 1' }] },
      intercept: ({ path: at, query }) => {
        if (at !== path) return undefined
        const [page, limit] = [Number(query.page ?? 1), Number(query.limit ?? 50)]
        asked += 1
        const list = query.to ? [] : rows.slice((page - 1) * limit, page * limit)
        const meta = { page, limit, total: query.to ? 0 : rows.length }
        return {
          status: 200,
          body: `{"success":true,"data":[${list.map(written).join()}],"meta":${JSON.stringify(meta)}}`,
        }
      },
    })
    const warehouse = await bench.warehouse()
    let day = 0
    const clock = { now: () => Date.UTC(2026, 2, 2 + day), sleep: async () => undefined }
    const stored = async () => {
      const request = { resources: ['metric-rows'] }
      expect((await syncOnce(sandbox, warehouse, { request, effects: { clock } })).failure).toBeUndefined()
      return await warehouse.engine.rows<{ days: number }>(
        `select time_to_offer_days as days from star.fact_recruitment_metric_row`,
      )
    }
    expect(await stored()).toHaveLength(250)
    day = 8
    rows = [...rows.slice(2), row(1000)]
    expect(await stored()).toHaveLength(249)
  })
})
