/** The parts of lists that are read company by company: the same part of all companies is one load. */
import { expect, test } from 'vitest'
import type { ResourceEvent } from '../../src/sync/run/context.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const path = '/requisitions/recruitment-metrics'
const companies = ['c1', 'c2', 'c3']
/** Of the recent part, of the older one, and of the days that both parts show. */
const created = ['01/03/2026', '01/06/2025', '30/11/2025', '01/12/2025']
const rowsOf = (company: string) =>
  created.map((day, at) => ({ reqRef: `${company}-${at}`, reqCreated: day }))

describeOnEngines('metric rows', bench => {
  test('of each company and part are loaded as the service has them', async () => {
    const sandbox = await openSandbox({
      records: { companies: companies.map(id => ({ id, name: id })) },
      intercept: ({ path: at, query }) => {
        if (at !== path) return undefined
        const day = (text = '') => text.split('/').reverse().join('-')
        const data = rowsOf(String(query.company)).filter(
          ({ reqCreated }) => day(reqCreated) >= (query.from ?? '0') && day(reqCreated) <= (query.to ?? '9'),
        )
        const meta = { page: 1, limit: 200, total: data.length }
        return { status: 200, body: JSON.stringify({ success: true, data, meta }) }
      },
    })
    const warehouse = await bench.warehouse()
    let loads = 0
    const clock = { now: () => Date.UTC(2026, 2, 2), sleep: async () => undefined }
    const emit = ({ state }: ResourceEvent) => {
      if (state === 'loading') loads += 1
    }
    const request = { resources: ['metric-rows'] }
    expect(
      (await syncOnce(sandbox, warehouse, { request, effects: { clock, emit } })).failure,
    ).toBeUndefined()
    const stored = await warehouse.engine.rows<{ ref: string; company: string }>(
      `select requisition_reference as ref, company_id as company from star.fact_recruitment_metric_row order by 1`,
    )
    expect(stored).toEqual(
      companies.flatMap(company => rowsOf(company).map(({ reqRef: ref }) => ({ ref, company }))),
    )
    expect(loads).toBe(2)
  })
})
