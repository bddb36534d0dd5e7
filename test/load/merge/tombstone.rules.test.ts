/** What a tombstone, and its removal, does to a record and everything that belongs to it. */
import { expect, test } from 'vitest'
import { type GoneRecord, revive, tombstone } from '../../../src/load/merge/tombstone.ts'
import { stagePlan } from '../../../src/load/read/plan.ts'
import { gauges } from '../gauges.ts'
import { rulesMerge } from './rules-merge.ts'

const warehouse = rulesMerge()
const plan = stagePlan(gauges)
const time = (day: number): string => `2026-03-${String(day).padStart(2, '0')}T09:00:00.000Z`
const gauge = (id: string) => ({
  ...{ id, status: 'pending', updatedAt: time(1), version: 1, serial: 'n', readings: [{ level: 1 }] },
})
const tables = ['star.fact_gauge', 'star.bridge_gauge_reading', 'pii.gauge']
/** Their rows as a load writes them, fetched on the second day. */
const store = (...ids: readonly string[]) =>
  warehouse.engine.run(
    tables
      .map(
        table => `insert into ${table} (gauge_id, is_deleted, source_updated_at, loaded_at, valid_from)
          select id, false, '${time(1)}', '${time(2)}', '${time(1)}' from unnest([${ids.map(id => `'${id}'`).join(', ')}]) t(id)`,
      )
      .join(';'),
  )
const turn = (how: typeof tombstone, ...rows: readonly GoneRecord[]) => how(warehouse.engine, plan, rows)

/** Rows of a record and its readings: whether deleted, since when, and from when to when they are valid. */
async function rowsOf(id: string) {
  const select = (place: string, until: string) =>
    `select '${place}' as place, is_deleted, day(deleted_at) as gone, day(valid_from) as since, ${until} as until
     from ${place} where gauge_id = '${id}'`
  const [now, then] = ['null', 'day(valid_to)']
  const rows = await warehouse.rows(
    `${[
      select('star.fact_gauge', now),
      select('star.bridge_gauge_reading', now),
      select('pii.gauge', now),
      select('history.fact_gauge', then),
      select('history.bridge_gauge_reading', then),
      select('pii.gauge_history', then),
    ].join(' union all ')} order by since, until`,
  )
  const of = (place: string) =>
    rows
      .filter(row => row.place === place)
      .map(({ is_deleted: isDeleted, gone, since, until }) =>
        [isDeleted ? `gone since ${gone}` : 'live', since, until].filter(one => one !== null).join(' '),
      )
  expect(of('star.bridge_gauge_reading')).toEqual(of('star.fact_gauge'))
  expect(of('pii.gauge')).toEqual(of('star.fact_gauge'))
  expect(of('history.bridge_gauge_reading')).toEqual(of('history.fact_gauge'))
  expect(of('pii.gauge_history')).toEqual(of('history.fact_gauge'))
  return { now: of('star.fact_gauge'), replaced: of('history.fact_gauge') }
}

test('a tombstone keeps the version until then, once, and leaves other records alone', async () => {
  await store('gone', 'other')
  await turn(tombstone, { id: 'gone', at: time(10) })
  const gone = { now: ['gone since 10 10'], replaced: ['live 1 10'] }
  expect(await rowsOf('gone')).toEqual(gone)
  await turn(tombstone, { id: 'gone', at: time(11) })
  expect(await rowsOf('gone')).toEqual(gone)
  expect(await rowsOf('other')).toEqual({ now: ['live 1'], replaced: [] })
})

test('a record that is seen again is live, once, and its absence is a version', async () => {
  await store('back', 'still')
  await turn(tombstone, { id: 'back', at: time(10) }, { id: 'still', at: time(10) })
  await turn(revive, { id: 'back', at: time(12) })
  const back = { now: ['live 12'], replaced: ['live 1 10', 'gone since 10 10 12'] }
  expect(await rowsOf('back')).toEqual(back)
  await turn(revive, { id: 'back', at: time(13) })
  expect(await rowsOf('back')).toEqual(back)
  expect(await rowsOf('still')).toMatchObject({ now: ['gone since 10 10'] })
})

test('a record that a later page shows again keeps its absence as a version', async () => {
  await warehouse.merge(gauges, [gauge('shown')], { at: time(2) })
  await turn(tombstone, { id: 'shown', at: time(10) })
  await warehouse.merge(gauges, [gauge('shown')], { at: time(12) })
  expect(await rowsOf('shown')).toEqual({ now: ['live 12'], replaced: ['live 1 10', 'gone since 10 10 12'] })
})

test('a version whose beginning is not known was valid from its own time, and an absence from when it was loaded', async () => {
  await store('unknown', 'by_hand')
  for (const table of tables) await warehouse.engine.run(`update ${table} set valid_from = null`)
  for (const table of tables)
    await warehouse.engine.run(`update ${table} set is_deleted = true where gauge_id = 'by_hand'`)
  await turn(tombstone, { id: 'unknown', at: time(10) })
  await turn(revive, { id: 'by_hand', at: time(12) })
  expect(await rowsOf('unknown')).toMatchObject({ replaced: ['live 1 10'] })
  expect(await rowsOf('by_hand')).toMatchObject({ replaced: ['gone since null 2 12'] })
})

test.each([500, 501, 1000])(
  'of %i records, more than one statement takes, each is turned once',
  async number => {
    const rows = Array.from({ length: number }, (_, index) => ({ id: `of${number} ${index}`, at: time(10) }))
    await warehouse.engine.run(
      `insert into star.fact_gauge (gauge_id, is_deleted) select 'of${number} ' || n, false from range(${number}) t(n)`,
    )
    await turn(tombstone, ...rows)
    const counts = await warehouse.rows(
      `select (select count(*) from star.fact_gauge where is_deleted and gauge_id like 'of${number} %') as gone,
       (select count(*) from history.fact_gauge where gauge_id like 'of${number} %') as kept`,
    )
    expect(counts.map(row => Object.values(row).map(Number))).toEqual([[number, number]])
  },
)

test('nothing to turn takes no statement', async () => {
  const broken = { ...warehouse.engine, run: () => Promise.reject(new Error('a statement ran')) }
  await expect(tombstone(broken, plan, [])).resolves.toBeUndefined()
  await expect(tombstone(broken, plan, [{ id: 'a', at: time(10) }])).rejects.toThrow('a statement ran')
})

test('what is turned counts as one change of its resource, and nothing turned as none', async () => {
  const counted = () => warehouse.rows('select name, cast(changes as integer) as n from ops.write_count')
  await warehouse.engine.run('delete from ops.write_count')
  await turn(tombstone)
  expect(await counted()).toEqual([])
  await turn(tombstone, { id: 'one', at: time(10) }, { id: 'two', at: time(10) })
  await turn(revive, { id: 'one', at: time(11) })
  expect(await counted()).toEqual([{ name: plan.resource.name, n: 2 }])
})
