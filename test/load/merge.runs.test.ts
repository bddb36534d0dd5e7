/** Which version of a record the warehouse keeps, and where each part of it goes. */
import { expect, test } from 'vitest'
import { type OneList, oneList } from '../support/one-list.ts'
import { tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, rowsTouched, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'

const day = (number: number): string => `2026-03-${String(number).padStart(2, '0')}T09:00:00.000Z`

const base = {
  id: 't1',
  status: 'pending',
  version: 1,
  netHours: 40,
  createdAt: day(1),
  updatedAt: day(1),
}

const request = { resources: ['timesheets'] }

async function sync(list: OneList, warehouse: Warehouse, records?: readonly (object | string)[]) {
  if (records) list.records = records.map(one => (typeof one === 'string' ? one : JSON.stringify(one)))
  const outcome = await syncOnce(list, warehouse, { request })
  expect(outcome.failure).toBeUndefined()
  return { ...outcome.resources[0]!, touched: rowsTouched(outcome) }
}

async function statuses({ engine }: Warehouse): Promise<string[]> {
  const rows = await engine.rows<{ id: string; status: string }>(
    'select timesheet_id as id, status from star.fact_timesheet order by 1',
  )
  return rows.map(({ id, status }) => `${id} ${status}`)
}

const starText = async ({ engine }: Warehouse, schema: string): Promise<string> =>
  JSON.stringify(Object.entries(await tables(engine)).filter(([name]) => name.startsWith(`${schema}.`)))

describeOnEngines('merge', bench => {
  const begin = async (records: readonly (object | string)[]) => {
    const warehouse = await bench.warehouse()
    const list = await oneList('/timesheets')
    await sync(list, warehouse, records)
    return { warehouse, list, next: (...again: (object | string)[]) => sync(list, warehouse, again) }
  }

  test('newer wins, older never does: by updatedAt, then version, then order of arrival', async () => {
    const { warehouse, next } = await begin([{ ...base, updatedAt: day(5), version: 5 }])
    const shows = async (change: object, status: string, touched: number) => {
      expect((await next({ ...base, updatedAt: day(5), ...change })).touched).toBe(touched)
      expect(await statuses(warehouse)).toEqual([`t1 ${status}`])
    }
    await shows({ updatedAt: day(4), version: 9, status: 'stale time' }, 'pending', 0)
    await shows({ version: 4, status: 'stale version' }, 'pending', 0)
    await shows({ version: 6, status: 'approved' }, 'approved', 1)
    await shows({ version: 6, status: 'cancelled' }, 'cancelled', 1)
    await shows({ updatedAt: day(6), version: 1, status: 'absent' }, 'absent', 1)
  })

  test('of versions with equal times the one that was fetched later is kept, whichever is loaded later', async () => {
    const warehouse = await bench.warehouse()
    const list = await oneList('/timesheets')
    const fetched = async (status: string, hour: string) => {
      list.records = [JSON.stringify({ ...base, status })]
      const clock = { now: () => Date.parse(`2026-04-01T${hour}:00:00Z`), sleep: async () => undefined }
      return rowsTouched(await syncOnce(list, warehouse, { request, effects: { clock } }))
    }
    expect([await fetched('pending', '10'), await fetched('approved', '12')]).toEqual([1, 1])
    expect(await fetched('absent', '11')).toBe(0)
    expect(await statuses(warehouse)).toEqual(['t1 approved'])
  })

  test('of versions on one page the newest is kept', async () => {
    const versions = [
      { ...base, status: 'approved', updatedAt: day(3) },
      { ...base, status: 'pending', updatedAt: day(2) },
      { ...base, id: 't2', status: 'absent', version: 3 },
      { ...base, id: 't2', status: 'pending', version: 2 },
      { ...base, id: 't3', status: 'pending' },
      { ...base, id: 't3', status: 'cancelled' },
    ]
    const warehouse = await bench.warehouse()
    // A total of six for three records leaves open whether others were missed.
    const { failure } = await syncOnce(await oneList('/timesheets', versions), warehouse, { request })
    expect(failure).toMatchObject({ name: 'Incomplete' })
    expect(await statuses(warehouse)).toEqual(['t1 approved', 't2 absent', 't3 cancelled'])
  })

  test('children are replaced with their parent, and the replaced rows become history', async () => {
    const log = (id: string) => ({ id, hours: { total: 8 } })
    const { warehouse, next } = await begin([{ ...base, timelogs: [log('a'), log('b')] }])
    const both = { timelogs: [log('b'), log('c')], updatedAt: day(2) }
    expect(await next({ ...base, ...both })).toMatchObject({ rows_changed: 1, rows_inserted: 0 })
    const ids = async (table: string) =>
      (await warehouse.engine.rows<{ id: string }>(`select timelog_id as id from ${table} order by 1`)).map(
        row => row.id,
      )
    expect(await ids('star.fact_timelog')).toEqual(['b', 'c'])
    expect(await ids('history.fact_timelog')).toEqual(['a', 'b'])
    await next({ ...base, timelogs: [], updatedAt: day(3) })
    expect(await ids('star.fact_timelog')).toEqual([])
    const versions = await warehouse.engine.rows(
      'select valid_from, valid_to, source_updated_at from history.fact_timesheet order by valid_from',
    )
    expect(versions).toEqual([
      { valid_from: day(1), valid_to: day(2), source_updated_at: day(1) },
      { valid_from: day(2), valid_to: day(3), source_updated_at: day(2) },
    ])
  })

  test('a difference in a child row alone is a change, also without a later updatedAt', async () => {
    const { warehouse, next } = await begin([{ ...base, timelogs: [{ id: 'a', breaks: 30 }] }])
    expect((await next({ ...base, timelogs: [{ id: 'a', breaks: 45 }] })).touched).toBe(1)
    const [row] = await warehouse.engine.rows('select break_minutes from star.fact_timelog')
    expect(row).toEqual({ break_minutes: '45.0000' })
  })

  test('null instead of absent, another order of keys and another notation of numbers are no change', async () => {
    const { warehouse, next } = await begin([
      '{"id":"t1","version":1,"netHours":40,"values":{"expense":12.5},"approvedBy":null,"timelogs":[],"updatedAt":"2026-03-01T09:00:00.000Z"}',
    ])
    const before = await tables(warehouse.engine)
    const spellings = [
      '{"updatedAt":"2026-03-01T09:00:00.000Z","timelogs":null,"values":{"expense":12.50},"netHours":40.0,"version":1,"id":"t1"}',
      '{"id":"t1","version":1.0,"netHours":4e1,"values":{"expense":1.25E1,"pay":null},"updatedAt":"2026-03-01T09:00:00Z"}',
      '{"id":"t1","version":1,"netHours":"40","values":{"expense":"12.5"},"worker":{"id":null},"updatedAt":"2026-03-01T10:00:00.000+01:00"}',
    ]
    for (const spelling of spellings) {
      expect({ spelling, ...(await next(spelling)) }).toMatchObject({
        spelling,
        touched: 0,
        quarantined: 0,
      })
      expect(await tables(warehouse.engine)).toEqual(before)
    }
  })

  test('digits that a column cannot hold are stored as text, and reported once', async () => {
    const { warehouse, next } = await begin([{ ...base, netHours: 7.123456 }])
    const { engine } = warehouse
    expect(await engine.rows('select net_hours from star.fact_timesheet')).toEqual([{ net_hours: '7.1235' }])
    const leaf = `select path, value_text from star.attribute_leaf where path = 'netHours'`
    expect(await engine.rows(leaf)).toEqual([{ path: 'netHours', value_text: '7.123456' }])
    expect((await next({ ...base, netHours: 7.123457 })).touched).toBe(1)
    const drift = await engine.rows(`select path, kind from ops.schema_drift`)
    expect(drift).toEqual([{ path: 'netHours', kind: 'rounded' }])
  })

  test('a quarantined version leaves the good one in place, and a later good one resolves it', async () => {
    const { warehouse, next } = await begin([{ ...base }])
    const bad = { ...base, netHours: 'many', updatedAt: day(2) }
    expect(await next(bad)).toMatchObject({ quarantined: 1, touched: 0 })
    expect(await statuses(warehouse)).toEqual(['t1 pending'])
    const open = 'select record_id, path, text, reason, resolved_at is null as is_open from ops.quarantine'
    const kept = { record_id: 't1', path: 'netHours', text: 'many', reason: 'not a number' }
    expect(await warehouse.engine.rows(open)).toEqual([{ ...kept, is_open: true }])
    await next(bad)
    expect(await warehouse.engine.rows(open)).toEqual([{ ...kept, is_open: true }])
    expect(await next({ ...base, status: 'approved', updatedAt: day(3) })).toMatchObject({ touched: 1 })
    expect(await warehouse.engine.rows(open)).toEqual([{ ...kept, is_open: false }])
  })

  test('a row whose record is quarantined is not missing from a snapshot', async () => {
    const warehouse = await bench.warehouse()
    const rows = (type: string) =>
      ['r1', 'r2'].map(id => ({ id, a: 'admin', can: 'view', type: id === 'r1' ? type : 'RBAC' }))
    const list = await oneList('/access-rule-mappings', rows('RBAC'))
    const read = () => syncOnce(list, warehouse, { request: { resources: ['access-rules'] } })
    await read()
    list.records = rows('RB\u0000AC').map(row => JSON.stringify(row))
    const { resources } = await read()
    expect(resources[0]).toMatchObject({ quarantined: 1, rows_removed: 0 })
    list.records = list.records.slice(1)
    expect((await read()).resources[0]).toMatchObject({ rows_removed: 1, rows_inserted: 0 })
  })

  test('undeclared fields are stored for every record, in star or pii by their name, and reported once', async () => {
    const extra = {
      zone: 'north',
      nested: { depth: 3, list: ['x', {}] },
      contactEmail: 'planted@example.com',
    }
    const denied = { passportNumber: 'planted-passport', link: 'https://files.example.com/a?key=planted-key' }
    const records = [
      { ...base, ...extra, ...denied },
      { ...base, id: 't2', zone: 'south' },
    ]
    const { warehouse, next } = await begin(records)
    const leaves = (schema: string) =>
      warehouse.engine.rows<Record<string, string>>(
        `select record_id, path, value_text, value_type from ${schema}.attribute_leaf order by 1, 2`,
      )
    expect((await leaves('star')).map(row => Object.values(row).join(' '))).toEqual([
      't1 link https://files.example.com/a text',
      't1 nested.depth 3 number',
      't1 nested.list[0] x text',
      't1 nested.list[1] {} empty',
      't1 zone north text',
      't2 zone south text',
    ])
    expect((await leaves('pii')).map(row => Object.values(row).join(' '))).toEqual([
      't1 contactEmail planted@example.com text',
      't1 passportNumber [not stored] text',
    ])
    const drift = `select path, run_id from ops.schema_drift where kind = 'unknown field' order by path`
    const reported = await warehouse.engine.rows<{ path: string }>(drift)
    expect(reported.map(({ path }) => path)).toEqual([
      'contactEmail',
      'link',
      'nested',
      'passportNumber',
      'zone',
    ])
    expect((await next(...records)).touched).toBe(0)
    expect(await warehouse.engine.rows(drift)).toEqual(reported)
  })

  test('a value outside its declared list is stored, and reported once', async () => {
    const { warehouse, next } = await begin([{ ...base, status: 'paused' }])
    await next({ ...base, status: 'paused', updatedAt: day(2) })
    expect(await statuses(warehouse)).toEqual(['t1 paused'])
    // The report is published, and the service may write anything.
    expect(await warehouse.engine.rows('select kind, path from ops.schema_drift')).toEqual([
      { kind: 'unknown value', path: 'fact_timesheet.status' },
    ])
    expect(await warehouse.engine.rows('select path, value from pii.unknown_value')).toEqual([
      { path: 'fact_timesheet.status', value: 'paused' },
    ])
  })

  test('a value outside its list that is no single word may be personal: it is in pii only', async () => {
    const { warehouse, next } = await begin([{ ...base, status: 'Jane Doe, 07700 900123' }])
    expect(await statuses(warehouse)).toEqual(['t1 (other)'])
    expect(await warehouse.engine.rows('select value from pii.unknown_value')).toEqual([
      { value: 'Jane Doe, 07700 900123' },
    ])
    // Two such values are two versions all the same.
    const loaded = await next({ ...base, status: 'John Doe', updatedAt: day(2) })
    expect(loaded).toMatchObject({ rows_changed: 1 })
    const history = await warehouse.engine.rows<{ status: string }>(
      'select status from history.fact_timesheet',
    )
    expect(history.every(({ status }) => status === '(other)')).toBe(true)
  })

  test('names of people and free text are in pii only', async () => {
    const warehouse = await bench.warehouse()
    const record = {
      id: 'e1',
      description: 'planted-words',
      noReceiptReason: 'planted-reason',
      worker: { id: 'w1', reference: 'W-1', name: 'planted-name' },
      createdBy: { id: 'u1', name: 'planted-creator' },
      receipts: [{ fileName: 'planted-file.pdf', url: 'https://files.example.com/r?token=planted-token' }],
      updatedAt: day(1),
    }
    const list = await oneList('/expenses', [record])
    await syncOnce(list, warehouse, { request: { resources: ['expenses'] } })
    list.records = [JSON.stringify({ ...record, description: 'planted-other', updatedAt: day(2) })]
    await syncOnce(list, warehouse, { request: { resources: ['expenses'] } })
    expect(await starText(warehouse, 'star')).not.toContain('planted')
    expect(await starText(warehouse, 'history')).not.toContain('planted')
    const personal = await starText(warehouse, 'pii')
    for (const word of [
      'planted-words',
      'planted-other',
      'planted-reason',
      'planted-name',
      'planted-creator',
      'planted-file',
    ])
      expect(personal).toContain(word)
    expect(personal).not.toContain('planted-token')
  })
})
