/** What `build` promises of any mart, on marts of this test: order, one transaction each, and the previous rows on failure. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { type BuildEffects, type BuildResult, buildMarts } from '../../src/marts/build.ts'
import { type Mart, readMart } from '../../src/marts/mart.ts'
import { type MartGate, openGate } from '../../src/marts/rebuild.ts'
import { countChange } from '../../src/state/marts/writes.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { companyMart } from './company-mart.ts'

const now = Date.parse('2026-11-02T02:30:00Z')

const mart = companyMart

let runs = 0

function build(
  { engine }: Warehouse,
  marts: readonly Mart[],
  more: {
    gate?: MartGate
    all?: boolean
    names?: string[]
    at?: string
    onMart?: BuildEffects['onMart']
  } = {},
): Promise<BuildResult> {
  runs += 1
  let ms = more.at ? Date.parse(more.at) : now + runs * 60_000
  return buildMarts(
    {
      engine,
      clock: { now: () => ms++, sleep: systemClock.sleep },
      rng: seededRng(runs),
      signal: new AbortController().signal,
      version: 'test',
      gate: more.gate ?? openGate,
      onMart: more.onMart ?? (() => undefined),
    },
    { marts, names: more.names ?? [], all: more.all ?? false },
  )
}

const states = ({ marts }: BuildResult) => Object.fromEntries(marts.map(({ name, state }) => [name, state]))

/** A company, as a sync that changed one row would leave it. */
async function addCompany({ engine }: Warehouse, id: string): Promise<void> {
  runs += 1
  await engine.run(
    `insert into star.dim_company (company_id, name, is_deleted) values ('${id}', 'Name of ${id}', false)`,
  )
  await engine.run(`insert into ops.run (run_id, command, arguments, state, started_at, finished_at, requests, retries,
      records_read, rows_inserted, rows_changed, rows_removed, records_unchanged, quarantined, program_version)
    values ('sync-${runs}', 'sync', '', 'done', '2026-11-02T01:00:00Z', '2026-11-02T01:${String(runs).padStart(2, '0')}:00Z', 1, 0, 1, 1, 0, 0, 0, 0, 'test')`)
  await countChange(engine, 'companies')
}

const ids = async ({ engine }: Warehouse, name = 'a'): Promise<unknown[]> =>
  (await engine.rows<{ id: string }>(`select id from mart.${name} order by id`)).map(({ id }) => id)

describeOnEngines('a build', bench => {
  test('makes a table with its comments, and does nothing when nothing changed', async () => {
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    await addCompany(warehouse, 'c1')
    const a = mart('a', {
      columns: [`n numeric(12,4): Letters of its name, with a 'quote'.`],
      select: `select company_id, length(name) from star.dim_company where company_id <> '-1'`,
    })
    expect(states(await build(warehouse, [a]))).toEqual({ a: 'built' })
    const [row] = await engine.rows<Record<string, unknown>>(`select * from mart.a where id = 'c1'`)
    expect(row).toEqual({
      id: 'c1',
      n: '10.0000',
      definition_id: a.definitionId,
      as_of: expect.stringMatching(/^2026-11-02T01:/),
      loaded_at: expect.stringMatching(/^2026-11-02T02:/),
    })
    const comments =
      engine.kind === 'duckdb'
        ? `select comment from duckdb_tables() where schema_name = 'mart' union all
           select comment from duckdb_columns() where schema_name = 'mart' and column_index = 2`
        : `select obj_description('mart.a'::regclass) as comment union all select col_description('mart.a'::regclass, 2)`
    expect((await engine.rows<{ comment: string }>(comments)).map(({ comment }) => comment).sort()).toEqual([
      "Letters of its name, with a 'quote'. Does not add up.",
      'One row per company. What a is for. Answers: Which companies are there?',
    ])
    const second = await build(warehouse, [a])
    expect(states(second)).toEqual({ a: 'unchanged' })
    expect(second.marts[0]!.rows).toBe(Number((await ids(warehouse)).length))
    expect(await engine.rows(`select loaded_at from mart.a where id = 'c1'`)).toEqual([
      { loaded_at: row!.loaded_at },
    ])
    expect(states(await build(warehouse, [a], { all: true }))).toEqual({ a: 'built' })
  })

  test('follows rows, definitions, columns, the day and what is declared', async () => {
    const warehouse = await bench.warehouse()
    await addCompany(warehouse, 'c1')
    const day = mart('day', {
      columns: ['on_day date: Today.'],
      select: `select company_id, :today from star.dim_company where company_id <> '-1'`,
    })
    const b = mart('b', { select: 'select id from mart.a' })
    const [a, other] = [mart('a'), mart('other')]
    const all = [b, a, day, other]
    const first = await build(warehouse, all, { at: '2026-03-29T22:30:00Z' })
    expect(first.marts.map(({ name }) => name)).toEqual(['a', 'b', 'day', 'other'])
    expect(await warehouse.engine.rows(`select max(on_day) as d from mart.day`)).toEqual([
      { d: '2026-03-29' },
    ])
    // London's summer: the day ends there an hour before it does in UTC.
    expect(states(await build(warehouse, all, { at: '2026-03-29T23:10:00Z' }))).toEqual({
      a: 'unchanged',
      b: 'unchanged',
      day: 'built',
      other: 'unchanged',
    })
    expect(await warehouse.engine.rows(`select max(on_day) as d from mart.day`)).toEqual([
      { d: '2026-03-30' },
    ])
    await addCompany(warehouse, 'c2')
    expect(states(await build(warehouse, all, { names: ['b'] }))).toEqual({ a: 'built', b: 'built' })
    expect(await ids(warehouse, 'b')).toEqual(['c1', 'c2'])
    expect(await ids(warehouse, 'other')).toEqual(['c1'])
    const wider = mart('a', {
      columns: ['name text: Its name.'],
      select: "select company_id, name from star.dim_company where company_id <> '-1'",
    })
    expect(states(await build(warehouse, [b, wider, day]))).toEqual({
      a: 'built',
      b: 'built',
      day: 'built',
      other: 'removed',
    })
    expect(await warehouse.engine.rows(`select id, name from mart.a order by id`)).toEqual([
      { id: 'c1', name: 'Name of c1' },
      { id: 'c2', name: 'Name of c2' },
    ])
    await expect(ids(warehouse, 'other')).rejects.toThrow()
    const reworded = mart('a', {
      columns: ['name text: What it is called.'],
      select: "select company_id, name from star.dim_company where company_id <> '-1'",
    })
    expect(states(await build(warehouse, [reworded]))).toEqual({ a: 'built', b: 'removed', day: 'removed' })
  })

  test('that fails leaves the previous rows, and those of marts that read them', async () => {
    const warehouse = await bench.warehouse()
    await addCompany(warehouse, 'c1')
    const b = mart('b', { select: 'select id from mart.a' })
    await build(warehouse, [mart('a'), b, mart('c')])
    await addCompany(warehouse, 'c2')
    const broken: [Mart, RegExp][] = [
      [mart('a', { select: 'select nonsense from star.dim_company' }), /nonsense/],
      [
        mart('a', {
          select: `select case when company_id = 'c2' then cast(1 / (length(company_id) - 2) as text) else cast(cast('x' || company_id as integer) as text) end from star.dim_company`,
        }),
        /./,
      ],
      [mart('a', { select: `select 'same' from star.dim_company` }), /key/],
      [mart('a', { select: `select cast(null as text) from star.dim_company` }), /key|null/],
      [
        mart('a', {
          columns: ['n integer: Another shape.'],
          select: `select company_id, cast(company_id as integer) from star.dim_company`,
        }),
        /./,
      ],
    ]
    for (const [a, message] of broken) {
      const outcome = await build(warehouse, [a, b, mart('c')])
      expect(states(outcome)).toMatchObject({ a: 'failed', b: 'waiting' })
      expect(outcome.marts[0]!.message).toMatch(message)
      expect(await ids(warehouse)).toEqual(['c1'])
      expect(await ids(warehouse, 'b')).toEqual(['c1'])
      expect(await ids(warehouse, 'c')).toEqual(['c1', 'c2'])
    }
    const [run] = await warehouse.engine.rows(
      `select state, message from ops.run where command = 'build' order by run_id desc limit 1`,
    )
    expect(run).toEqual({ state: 'failed', message: '1 failed, 1 waiting, 1 unchanged' })
    expect(states(await build(warehouse, [mart('a'), b, mart('c')]))).toEqual({
      a: 'built',
      b: 'built',
      c: 'unchanged',
    })
    expect(await ids(warehouse, 'b')).toEqual(['c1', 'c2'])
  })

  test('whose lease was taken over stops, writes no mart and records no failure', async () => {
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    await addCompany(warehouse, 'c1')
    const all = [mart('a'), mart('b'), mart('c')]
    await build(warehouse, all)
    await addCompany(warehouse, 'c2')
    const told: string[] = []
    const takeOver: BuildEffects['onMart'] = ({ name, state }) => {
      told.push(`${name} ${state}`)
      // Queued before what the build asks next.
      if (name === 'b' && state === 'building')
        void engine.run(`update ops.lease set epoch = epoch + 1, holder = 'the other build'`)
    }
    await expect(build(warehouse, all, { onMart: takeOver })).rejects.toThrow('taken over')
    expect(told).toEqual(['a building', 'a built', 'b building'])
    expect(await ids(warehouse, 'a')).toEqual(['c1', 'c2'])
    expect(await ids(warehouse, 'b')).toEqual(['c1'])
    expect(await engine.rows(`select distinct state from ops.mart`)).toEqual([{ state: 'built' }])
    expect(await engine.rows(`select holder from ops.lease`)).toEqual([{ holder: 'the other build' }])
  })

  test('publishes what the checks let pass, and nothing else', async () => {
    const warehouse = await bench.warehouse()
    await addCompany(warehouse, 'c1')
    await build(warehouse, [mart('a'), mart('b')])
    await addCompany(warehouse, 'c2')
    const gate: MartGate = async (engine, { name }) => {
      // The new rows are there for the check to see.
      const [{ n }] = (await engine.rows(`select count(*) as n from mart.${name}`)) as [{ n: number }]
      expect(Number(n)).toBe(2)
      return [{ check: 'too_many', severity: name === 'a' ? 'error' : 'warn', rows: 1 }]
    }
    const outcome = await build(warehouse, [mart('a'), mart('b')], { gate })
    expect(outcome.marts).toMatchObject([
      {
        name: 'a',
        state: 'refused',
        rows: 1,
        message: 'too_many: 1 row',
        findings: [{ check: 'too_many' }],
      },
      { name: 'b', state: 'built', rows: 2, findings: [{ check: 'too_many', severity: 'warn' }] },
    ])
    expect([await ids(warehouse), await ids(warehouse, 'b')]).toEqual([['c1'], ['c1', 'c2']])
    expect(states(await build(warehouse, [mart('a'), mart('b')]))).toEqual({ a: 'built', b: 'unchanged' })
  })

  test('of an empty warehouse gives empty marts that say so', async () => {
    const warehouse = await bench.warehouse()
    const { asOf, marts } = await build(warehouse, [
      mart('a', {
        columns: ['seen timestamptz: As of.'],
        select: `select company_id, :as_of from star.dim_company where company_id <> '-1'`,
      }),
    ])
    expect([asOf, marts[0]]).toMatchObject([null, { state: 'built', rows: 0 }])
  })
})

test('an incomplete header is reported with its file', () => {
  const text = (lines: string) => ({ name: 'mart/x.sql', text: `${lines}\nselect 1` })
  const whole =
    '-- What it is.\n-- Grain: one row.\n-- Question: What?\n-- Sources: star.a\n-- Columns:\n--   a text key: A\n--     thing.'
  expect(readMart(text(whole)).columns).toEqual([
    { name: 'a', type: 'text', isKey: true, description: 'A thing.' },
  ])
  for (const [missing, message] of [
    [whole.replace(/-- Grain.*\n/, ''), /sql\/mart\/x\.sql: its header has no line "-- Grain: \.\.\."/],
    [whole.replace(' key', ''), /no column is marked as key/],
    [whole.replace('a text key: A', 'a varchar key: A'), /"a varchar key: A thing\." is not a column/],
    [whole.replace('-- What it is.\n', ''), /does not begin with a sentence/],
  ] as const)
    expect(() => readMart(text(missing))).toThrow(message)
})

test('reports marts that read each other or a missing one', async () => {
  const { inOrder } = await import('../../src/marts/mart.ts')
  const reading = (name: string, other: string) => mart(name, { select: `select id from mart.${other}` })
  expect(() => inOrder([reading('a', 'b'), reading('b', 'a')])).toThrow('marts read each other: a -> b -> a')
  expect(() => inOrder([reading('a', 'b')])).toThrow('sql/mart/a.sql reads mart.b, which no file declares')
})
