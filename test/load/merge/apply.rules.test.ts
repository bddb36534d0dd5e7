/** Which rows of a record are written, kept as history and removed. */
import { describe, expect, test } from 'vitest'
import {
  applyMembers,
  areAllNew,
  arrivalsOf,
  isArriving,
  retirementOf,
  retireReplaced,
} from '../../../src/load/merge/apply.ts'
import { createDelta, type DeltaCounts } from '../../../src/load/merge/delta.ts'
import { EmptyTables } from '../../../src/load/merge/empty-tables.ts'
import { distinctOwners, targetsOf } from '../../../src/load/merge/targets.ts'
import { stagePlan } from '../../../src/load/read/plan.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { qualified } from '../../../src/warehouse/schema/structure.ts'
import { gauges, owners } from '../gauges.ts'
import { rulesMerge } from './rules-merge.ts'

const warehouse = rulesMerge()

const everyTable = distinctOwners(targetsOf(stagePlan(gauges))).map(qualified)
const none: DeltaCounts = { new: 0, inferred: 0, changed: 0, touched: 0, same: 0, stale: 0, missing: 0 }
const states = Object.keys(none) as (keyof DeltaCounts)[]

describe('by the states of a batch', () => {
  const arrive = {
    new: true,
    inferred: true,
    changed: true,
    touched: true,
    same: false,
    stale: false,
    missing: false,
  }
  const isFirst = {
    new: true,
    inferred: false,
    changed: false,
    touched: false,
    same: false,
    stale: false,
    missing: true,
  }
  const retired = {
    new: { hasHistory: false, removedFrom: 'tables with rows' },
    inferred: { hasHistory: false, removedFrom: 'tables with rows' },
    changed: { hasHistory: true, removedFrom: 'every table' },
    touched: { hasHistory: false, removedFrom: 'every table' },
    same: { hasHistory: false, removedFrom: 'no table' },
    stale: { hasHistory: false, removedFrom: 'no table' },
    missing: { hasHistory: true, removedFrom: 'every table' },
  }

  test.each(states)('a record that is %s is written, asked for and retired accordingly', state => {
    const counts = { ...none, [state]: 1 }
    expect(isArriving(counts)).toBe(arrive[state])
    expect(areAllNew({ ...counts, new: 1 })).toBe(isFirst[state])
    expect(retirementOf(counts)).toEqual(retired[state])
    expect(retirementOf({ ...counts, new: 1 }).removedFrom).toBe(
      retired[state].removedFrom === 'every table' ? 'every table' : 'tables with rows',
    )
  })
})

test('a batch is all new only when no state beside new has a record', () => {
  const others = states.filter(state => state !== 'new' && state !== 'missing')
  const pairs = others.flatMap(one => others.map(two => ({ ...none, new: 1, [one]: 1, [two]: 1 })))
  expect(pairs.filter(areAllNew)).toEqual([])
})

const time = (day: number): string => `2026-03-${String(day).padStart(2, '0')}T09:00:00.000Z`
const gauge = (id: string, day: number, parts: object = {}) => ({
  ...{ id, status: `s${day}`, updatedAt: time(day), createdAt: time(1), version: 1 },
  ...parts,
})
const whole = (id: string, day: number) =>
  gauge(id, day, {
    ...{ serial: `n${day}`, remark: `r${day}`, spec: { size: day, name: `x${day}` } },
    readings: [{ level: day }],
    parts: [{ part: `p${day}`, remark: `pr${day}` }],
    spares: [{ part: `q${day}` }],
  })

/** Every row of a record: what it says, and when it is valid. */
const rowsOf = async (id: string) => {
  const of = (place: string, value: string, owner = 'gauge_id') => {
    const isOld = place.includes('history')
    return `select '${place}' as place, cast(${value} as varchar) as value, day(valid_from) as since,
      ${isOld ? 'day(valid_to)' : 'null'} as until from ${place} where ${owner} = '${id}'`
  }
  const both = ([schema, name]: readonly [string, string], value: string, owner?: string) => [
    of(`${schema}.${name}`, value, owner),
    of(schema === 'pii' ? `pii.${name}_history` : `history.${name}`, value, owner),
  ]
  const selects = [
    ...both(['star', 'fact_gauge'], 'status'),
    ...both(['star', 'bridge_gauge_reading'], 'level'),
    ...both(['star', 'bridge_gauge_part'], `concat(list, ' ', part)`),
    ...both(['pii', 'gauge'], 'serial'),
    ...both(['pii', 'text'], `concat(table_name, ' ', text)`, 'record_id'),
    ...both(['star', 'attribute_leaf'], 'value_text', 'record_id'),
    ...both(['pii', 'attribute_leaf'], 'value_text', 'record_id'),
  ]
  const rows = await warehouse.rows(`${selects.join(' union all ')} order by place, value`)
  return rows.map(({ place, value, since, until }) =>
    [place, value, since, ...(until === null ? [] : [until])].map(String).join(' | '),
  )
}

const storedAt = (day: number, since: number) => [
  `pii.attribute_leaf | x${day} | ${since}`,
  `pii.gauge | n${day} | ${since}`,
  `pii.text | bridge_gauge_part pr${day} | ${since}`,
  `pii.text | fact_gauge r${day} | ${since}`,
  `star.attribute_leaf | ${day} | ${since}`,
  `star.bridge_gauge_part | parts p${day} | ${since}`,
  `star.bridge_gauge_part | spares q${day} | ${since}`,
  `star.bridge_gauge_reading | ${day}.0000 | ${since}`,
  `star.fact_gauge | s${day} | ${since}`,
]
const historyOf = (day: number, since: number, until: number) => [
  `history.attribute_leaf | ${day} | ${since} | ${until}`,
  `history.bridge_gauge_part | parts p${day} | ${since} | ${until}`,
  `history.bridge_gauge_part | spares q${day} | ${since} | ${until}`,
  `history.bridge_gauge_reading | ${day}.0000 | ${since} | ${until}`,
  `history.fact_gauge | s${day} | ${since} | ${until}`,
  `pii.attribute_leaf_history | x${day} | ${since} | ${until}`,
  `pii.gauge_history | n${day} | ${since} | ${until}`,
  `pii.text_history | bridge_gauge_part pr${day} | ${since} | ${until}`,
  `pii.text_history | fact_gauge r${day} | ${since} | ${until}`,
]

test('each state of a batch does to all rows of its record what it should, and to no other', async () => {
  const ids = ['changed', 'touched', 'same', 'stale', 'missing', 'outside']
  await warehouse.merge(
    gauges,
    ids.map(id => whole(id, 2)),
  )
  // Its own row was removed by hand, and those of its lists are left.
  await warehouse.merge(gauges, [whole('left', 2)])
  await warehouse.engine.run(`delete from star.fact_gauge where gauge_id = 'left'`)
  await warehouse.engine.run(`update star.fact_gauge set status = 'other' where gauge_id = 'outside'`)
  const batch = [
    whole('new', 4),
    whole('left', 4),
    whole('changed', 4),
    { ...whole('touched', 2), updatedAt: time(4) },
    whole('same', 2),
    { ...whole('stale', 1), status: 'older' },
  ]
  const snapshot = [{ extent: { status: `<> 'other'` }, time: time(6), run: 'run-2' }]
  const counts = await warehouse.merge(gauges, batch, { snapshot })
  expect(counts).toEqual({ new: 2, inferred: 0, changed: 1, touched: 1, same: 1, stale: 1, missing: 1 })
  const found = Object.fromEntries(
    await Promise.all(['new', 'left', ...ids].map(async id => [id, await rowsOf(id)] as const)),
  )
  expect(found).toEqual({
    new: storedAt(4, 4),
    left: storedAt(4, 4),
    changed: [...historyOf(2, 2, 4), ...storedAt(4, 4)].sort(),
    touched: storedAt(2, 2),
    same: storedAt(2, 2),
    stale: storedAt(2, 2),
    missing: historyOf(2, 2, 6),
    outside: storedAt(2, 2).map(row => row.replace('fact_gauge | s2', () => 'fact_gauge | other')),
  })
})

test('members that a record names are written with it, and an inferred one gives way to its own record', async () => {
  const owner = { id: 'u1', name: 'Ann' }
  await warehouse.merge(gauges, [{ ...gauge('naming', 2), owner }])
  const stored = 'select user_id, is_inferred from star.dim_user'
  expect(await warehouse.rows(stored)).toEqual([{ user_id: 'u1', is_inferred: true }])
  const user = { id: 'u1', updatedAt: time(1) }
  expect(await warehouse.merge(owners, [user])).toEqual({ ...none, inferred: 1 })
  expect(await warehouse.rows(stored)).toEqual([{ user_id: 'u1', is_inferred: false }])
  expect(await warehouse.rows('select * from history.dim_user')).toEqual([])
})

describe('what arrives', () => {
  const arriving = async (records: readonly object[]) => {
    const { plan, filled } = await warehouse.stage(gauges, [warehouse.pageOf(records)])
    const counts = await createDelta(warehouse.engine, gauges, { records: warehouse.engine.send([]) })
    return arrivalsOf(warehouse.engine, plan, { counts, filled })
  }

  test('is sent with the narrow tables first and the members last, only to tables that get rows', async () => {
    const { items } = await arriving([{ ...gauge('sent', 2), readings: [{ level: 1 }], owner: { id: 'u2' } }])
    const widths = items.flatMap(item => ('select' in item ? [item.columns.length] : []))
    expect(widths).toEqual([...widths].sort((left, right) => left - right))
    expect(items.map(item => ('select' in item ? item.table : item.name))).toEqual([
      'pii."gauge"',
      'pii."gauge_reading"',
      'star."bridge_gauge_reading"',
      'pii."text"',
      'star."fact_gauge"',
      'member',
    ])
  })

  test('is nothing where every record is stored already', async () => {
    await warehouse.merge(gauges, [gauge('again', 2)])
    expect(await arriving([gauge('again', 2)])).toEqual({ items: [] })
  })
})

describe('the statements that retire what is replaced', () => {
  const plan = stagePlan(gauges)

  /** How many keep versions, and from which tables rows are removed. */
  async function statements(counts: Partial<DeltaCounts>, emptyTables?: EmptyTables) {
    const ran: string[] = []
    const engine = { ...warehouse.engine, run: (sql: string) => Promise.resolve(ran.push(sql)) }
    await retireReplaced(engine, plan, { counts: { ...none, ...counts }, filled: new Set(), emptyTables })
    const removed = ran.flatMap(sql => /^delete from (\S+)/.exec(sql)?.slice(1) ?? [])
    return { kept: ran.length - removed.length, removed: removed.length }
  }

  test('are as many as the states of the batch need', async () => {
    expect(await statements({ same: 1, stale: 1 })).toEqual({ kept: 0, removed: 0 })
    expect(await statements({ changed: 1 })).toEqual({ kept: 9, removed: 9 })
    expect(await statements({ missing: 1 })).toEqual({ kept: 9, removed: 9 })
    expect(await statements({ touched: 1 })).toEqual({ kept: 0, removed: 9 })
    expect(await statements({ new: 1 })).toEqual({ kept: 0, removed: 9 })
  })

  test('are fewer where tables had no rows, unless a stored record is replaced', async () => {
    await warehouse.engine.run(everyTable.map(table => `delete from ${table}`).join(';'))
    const known = new EmptyTables(plan)
    expect(await statements({ new: 1 }, known)).toEqual({ kept: 0, removed: 0 })
    expect(await statements({ inferred: 1 }, known)).toEqual({ kept: 0, removed: 2 })
    expect(await statements({ new: 1, inferred: 1 }, known)).toEqual({ kept: 0, removed: 2 })
    expect(await statements({ new: 1, touched: 1 }, known)).toEqual({ kept: 0, removed: 9 })
    expect(await statements({ new: 1, changed: 1 }, known)).toEqual({ kept: 9, removed: 9 })
  })
})

describe('what the warehouse sends to the stage', () => {
  /** The columns, of each table, for the arrivals of a batch with this record. */
  async function sent(record: object): Promise<readonly unknown[]> {
    const { plan, filled } = await warehouse.stage(gauges, [warehouse.pageOf([record])])
    const counts = await createDelta(warehouse.engine, gauges, { records: warehouse.engine.send([]) })
    const columnsSent: unknown[] = []
    const engine: Engine = {
      ...warehouse.engine,
      stage: warehouse.engine,
      sendToStage: (name, columns, select) => {
        columnsSent.push(...columns.map(one => [one.name, one.sql]))
        return warehouse.engine.sendToStage(name, columns, select)
      },
    }
    await arrivalsOf(engine, plan, { counts, filled })
    return columnsSent
  }

  test('is typed, and says which records arrive', async () => {
    await warehouse.merge(gauges, [gauge('typed', 2)])
    expect(await sent(gauge('typed', 3))).toEqual([
      ['locator', 'bigint'],
      ['first_loaded_at', 'timestamptz'],
      ['valid_from', 'timestamptz'],
    ])
  })

  test('is nothing where no record is stored: all of them arrive', async () => {
    expect(await sent(gauge('first of all', 3))).toEqual([])
  })
})

test('a dimension whose members get more than a new time is written with changes', async () => {
  const members = (...kinds: readonly boolean[]) => ({
    table: { name: 'member', columns: [], joinedBy: 'member_id' },
    changed: kinds
      .map((hasChanges, n) => `select 'dim_${n}' as dimension, ${hasChanges} as has_changes`)
      .join(' union all '),
    statements: () => [],
  })
  const written = await applyMembers(warehouse.engine, members(true, false))
  expect([...written].sort()).toEqual([
    ['dim_0', 'changes'],
    ['dim_1', 'touches'],
  ])
  expect(await applyMembers(warehouse.engine, undefined)).toEqual(new Map())
})
