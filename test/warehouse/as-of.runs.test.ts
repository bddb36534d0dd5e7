/** Star as it was known at the end of a day, from star and history, on both engines. */
import { expect, test } from 'vitest'
import { queryAsOf, viewsAsOf } from '../../src/warehouse/as-of.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

const day = { day: '2026-09-30', zone: 'Europe/London' }

const sheet = (id: string, status: string, valid: readonly string[]): string =>
  `('${id}', '${status}', ${status === 'deleted'}, ${valid.map(at => `timestamptz '${at}'`).join(', ')})`

describeOnEngines(
  'as of a day',
  ({ warehouse: fresh }) => {
    test('a record has the version that was valid when the day ended in the reporting zone', async () => {
      const { engine } = await fresh()
      await engine.run(
        `insert into star.fact_timesheet (timesheet_id, status, is_deleted, valid_from) values
       ${[
         sheet('unchanged', 'approved', ['2026-09-01T10:00:00Z']),
         sheet('approved in October', 'approved', ['2026-09-30T23:00:00Z']),
         sheet('approved in time', 'approved', ['2026-09-30T22:59:59Z']),
         sheet('created later', 'pending', ['2026-10-02T10:00:00Z']),
         sheet('deleted later', 'deleted', ['2026-10-05T10:00:00Z']),
       ].join(', ')}`,
      )
      await engine.run(
        `insert into history.fact_timesheet (timesheet_id, status, is_deleted, valid_from, valid_to) values
       ${[
         sheet('approved in October', 'pending', ['2026-09-28T10:00:00Z', '2026-09-30T23:00:00Z']),
         sheet('approved in time', 'pending', ['2026-09-28T10:00:00Z', '2026-09-30T22:59:59Z']),
         sheet('deleted later', 'approved', ['2026-09-02T10:00:00Z', '2026-10-05T10:00:00Z']),
       ].join(', ')}`,
      )
      const query = `with live as (select * from asof.fact_timesheet as t where not is_deleted)
         select timesheet_id as id, status from live order by 1`
      const rows = await engine.rows(queryAsOf(query, day))
      for (const _ of ['made', 'made again']) for (const sql of viewsAsOf(day)) await engine.run(sql)
      expect(await engine.rows(query.replace('asof.', '"asof".'))).toEqual(rows)
      expect(rows).toEqual([
        { id: 'approved in October', status: 'pending' },
        { id: 'approved in time', status: 'approved' },
        { id: 'deleted later', status: 'approved' },
        { id: 'unchanged', status: 'approved' },
      ])
    })
  },
  'all',
)

test('a query may name a table without an alias, in any case, and begin with any clause', () => {
  expect(queryAsOf('select asof.dim_company.name from ASOF.Dim_Company', day)).toMatch(
    /^with dim_company as \([\s\S]*\) select dim_company\.name from Dim_Company$/,
  )
  expect(queryAsOf('with recursive a as (select 1) select * from a, asof.dim_company', day)).toMatch(
    /^with recursive dim_company as \([\s\S]*\),\s+a as \(select 1\) select \* from a, dim_company$/,
  )
})

test('texts and comments that mention asof stay as they are', () => {
  expect(queryAsOf(`select 'asof.x' from asof.dim_company -- asof.y`, day)).toContain(
    `select 'asof.x' from dim_company -- asof.y`,
  )
})

test('a query without a table of asof, or with an unknown one, is refused', () => {
  expect(() => queryAsOf('select * from star.dim_company', day)).toThrow(
    /needs a query that reads a table of schema asof/,
  )
  expect(() => queryAsOf('select * from asof.fact_timeshet', day)).toThrow(
    /there is no table asof\.fact_timeshet/,
  )
})
