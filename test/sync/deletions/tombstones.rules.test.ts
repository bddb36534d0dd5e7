/** Which records are tombstoned: those with evidence enough, unless too many or a whole company would go at once. */
import { describe, expect, test } from 'vitest'
import { tombstoneProved } from '../../../src/sync/deletions/tombstones.ts'
import { resourceOf, rulesWarehouse } from '../../support/rules-warehouse.ts'
import { hour, rulesTasks, runOfScope, type Service, starRows, type TaskParts } from '../rules-task.ts'

const warehouse = rulesWarehouse()
const { task: newTask } = rulesTasks(warehouse, 'fact_expense', 'fact_timesheet')
const expenses = resourceOf('expenses')
const timesheets = resourceOf('timesheets')

const ids = (count: number, name = 'e'): string[] => Array.from({ length: count }, (_, n) => `${name}${n}`)
const given = async (
  id: string,
  source: string,
  parts: { kind?: string; at?: string; resource?: string } = {},
) => {
  const { kind = 'sweep', at = hour(-3), resource = 'timesheets' } = parts
  await warehouse.engine.run(
    `insert into ops.evidence (resource, record_id, kind, source, seen_at)
     values ('${resource}', '${id}', '${kind}', '${source}', timestamptz '${at}')`,
  )
}
/** Evidence of two sweeps. */
const proved = async (some: readonly string[]) => {
  for (const id of some) {
    await given(id, 'run 1')
    await given(id, 'run 2', { at: hour(-2) })
  }
}
const setUp = async (service: Service = () => undefined, parts: TaskParts = {}, resource = timesheets) => {
  const task = await newTask(resource, service, parts)
  for (const run of ['before', 'run 1', 'run 2', 'this']) await runOfScope(warehouse, run, task)
  return task
}
const stored = (some: readonly string[], columns = {}, resource = timesheets) =>
  starRows(warehouse, { resource, ids: some }, { columns })
const gone = async (table = 'fact_timesheet', key = 'timesheet_id') =>
  (await warehouse.rows(`select ${key} as id from star.${table} where is_deleted order by 1`)).map(
    ({ id }) => id,
  )

test('a record with two pieces of evidence is tombstoned, with what proves it in the ledger', async () => {
  await stored(ids(4))
  const task = await setUp()
  await proved(['e0'])
  await given('e1', 'run 1')
  await tombstoneProved(task)
  expect(await gone()).toEqual(['e0'])
  const [deletion, ...others] = await warehouse.rows('select * from ops.deletion')
  expect(others).toEqual([])
  expect(deletion).toMatchObject({
    ...{
      resource: 'timesheets',
      record_id: 'e0',
      tombstoned_at: hour(0),
      run_id: 'this',
      deleted_at: hour(-2),
    },
    ...{ undeleted_at: null, undeleted_by: null },
  })
  expect(JSON.parse(String(deletion?.evidence))).toEqual([
    { kind: 'sweep', source: 'run 1', seenAt: hour(-3) },
    { kind: 'sweep', source: 'run 2', seenAt: hour(-2) },
  ])
  expect(task.counters).toMatchObject({ rows_removed: 1, note: '1 wait for more evidence' })
  expect((await warehouse.rows(`select rows_removed as n from ops.run`)).map(Object.values)).toEqual([[1]])
  expect(
    await warehouse.rows(
      `select timesheet_id from star.fact_timesheet where deleted_at = timestamptz '${hour(-2)}'`,
    ),
  ).toHaveLength(1)
})

test('a quarantined record that is tombstoned needs no version any more', async () => {
  await stored(ids(4))
  const task = await setUp()
  await proved(['e0'])
  for (const id of ['e0', 'e1'])
    await warehouse.engine.run(
      `insert into ops.quarantine (quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at)
       values ('${id}', 'timesheets', '${id}', '', '', '', '', 'another key', timestamptz '${hour(-3)}')`,
    )
  await tombstoneProved(task)
  expect(
    await warehouse.rows('select record_id, resolved_at from ops.quarantine where resolved_at is not null'),
  ).toEqual([{ record_id: 'e0', resolved_at: hour(0) }])
})

test('without evidence nothing is asked, decided or noted', async () => {
  await stored(ids(4))
  const task = await setUp()
  await tombstoneProved(task)
  expect(task.counters.note).toBeNull()
  expect(task.requests).toEqual([])
})

test('when every candidate goes, none is said to wait', async () => {
  await stored(ids(4))
  const task = await setUp()
  await proved(['e0'])
  await tombstoneProved(task)
  expect(task.counters.note).toBeNull()
})

describe('too many at once', () => {
  test.each([
    ['half of the list goes', 4, 2, undefined, false],
    ['more than half stays', 4, 3, undefined, true],
    ['as many as --max-deletions says go', 4, 3, 3, false],
    ['more than --max-deletions says stay', 4, 2, 1, true],
  ] as const)('%s: of %i, %i with --max-deletions %s', async (...[, count, missing, most, isHeld]) => {
    await stored(ids(count))
    const task = await setUp()
    await proved(ids(missing))
    const work = tombstoneProved(task, most)
    if (isHeld)
      await expect(work).rejects.toThrow(`refusing to delete ${missing} of ${count} timesheets at once`)
    else await work
    expect(await gone()).toEqual(isHeld ? [] : ids(missing))
  })
})

describe('a company that would lose all its records', () => {
  const company = (id: string) => ({ company_id: `'${id}'` })

  test('keeps them, because hiding is more plausible than deletion', async () => {
    await stored(ids(3, 'a'), company('c1'))
    await stored(ids(9, 'b'), company('c2'))
    const task = await setUp()
    await proved(ids(3, 'a'))
    await expect(tombstoneProved(task)).rejects.toThrow('refusing to delete all 3 timesheets of c1 at once')
    expect(await gone()).toEqual([])
  })

  test('loses them when --max-deletions says so', async () => {
    await stored(ids(3, 'a'), company('c1'))
    await stored(ids(9, 'b'), company('c2'))
    const task = await setUp()
    await proved(ids(3, 'a'))
    await tombstoneProved(task, 3)
    expect(await gone()).toEqual(ids(3, 'a'))
  })

  test('loses them when events announced enough of them', async () => {
    await stored(ids(3, 'a'), company('c1'))
    await stored(ids(9, 'b'), company('c2'))
    const task = await setUp()
    await proved(ids(3, 'a'))
    await given('a0', 'event 1', { kind: 'event' })
    await tombstoneProved(task)
    expect(await gone()).toEqual(ids(3, 'a'))
  })

  test('is an agency for the key of an agency', async () => {
    const agency = { key: { name: 'k', agencies: [{ id: 'a1' }], scopes: [] } }
    await stored(ids(3, 'a'), { ...company('c1'), agency_id: `'a1'` })
    await stored(ids(3, 'b'), { ...company('c1'), agency_id: `'a2'` })
    await stored(ids(3, 'c'), { ...company('c2'), agency_id: `'a2'` })
    const task = await setUp(undefined, agency)
    await proved(ids(3, 'c'))
    await tombstoneProved(task)
    expect(await gone()).toEqual(ids(3, 'c'))
    await proved(ids(3, 'a'))
    await expect(tombstoneProved(task)).rejects.toThrow('all 3 timesheets of a1')
  })
})

describe('a candidate without proof', () => {
  const known: Service = ({ path, page }) => {
    if (page !== undefined) return { total: 100, records: [] }
    return path === '/expenses/control' ? { id: 'control' } : undefined
  }

  test('is asked for by id, and goes in the same run when it is missing', async () => {
    await stored([...ids(4), 'control'], {}, expenses)
    const task = await setUp(known, {}, expenses)
    await given('e0', 'run 1', { resource: 'expenses' })
    await tombstoneProved(task)
    expect(task.asked()).toContain('/expenses/e0')
    expect(await gone('fact_expense', 'expense_id')).toEqual(['e0'])
    expect(task.counters.note).toBeNull()
  })

  test('is not asked for when there are implausibly many', async () => {
    await stored([...ids(4), 'control'], {}, expenses)
    const task = await setUp(known, {}, expenses)
    for (const id of ids(3)) await given(id, 'run 1', { resource: 'expenses' })
    await tombstoneProved(task)
    expect(task.requests).toEqual([])
    expect(task.counters.note).toBe('3 wait for more evidence')
  })

  test('that has proof already is not asked for', async () => {
    await stored([...ids(6), 'control'], {}, expenses)
    const task = await setUp(known, {}, expenses)
    await given('e0', 'run 1', { resource: 'expenses' })
    await given('e0', 'run 2', { resource: 'expenses' })
    await given('e1', 'run 1', { resource: 'expenses' })
    await tombstoneProved(task)
    expect(task.asked()).not.toContain('/expenses/e0')
    expect(await gone('fact_expense', 'expense_id')).toEqual(['e0', 'e1'])
  })

  test('says beside the reason why nothing was confirmed that it waits', async () => {
    await stored(ids(4), {}, expenses)
    const task = await setUp(() => undefined, {}, expenses)
    await given('e0', 'run 1', { resource: 'expenses' })
    await tombstoneProved(task)
    expect(task.counters.note).toBe(
      'the service returns no record by id, so a 404 proves nothing; 1 wait for more evidence',
    )
  })
})

test('a 404 of the key that this one replaced counts beside a piece of its own', async () => {
  await stored(['e0', 'control'], {}, expenses)
  await stored(ids(3, 'x'), {}, expenses)
  const task = await setUp(
    ({ path, page }) => {
      if (page !== undefined) return { total: 100, records: [] }
      return path === '/expenses/control' ? { id: 'control' } : undefined
    },
    {},
    expenses,
  )
  await warehouse.engine.run(`update star.fact_expense set run_id = 'old key'`)
  await runOfScope(warehouse, 'old key', { scopeId: 'old' })
  await given('e0', 'old key', { kind: 'by-id 404', resource: 'expenses' })
  await tombstoneProved(task)
  expect(await gone('fact_expense', 'expense_id')).toEqual(['e0'])
})
