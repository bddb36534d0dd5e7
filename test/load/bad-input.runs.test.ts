/** Faults of the service or the disk end in a clear error or in quarantine: nothing is lost, nothing half-written. */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { muster } from '../support/captured-world.ts'
import { selfSigned } from '../support/certificate.ts'
import { thorough } from '../support/long-suite.ts'
import { oneList } from '../support/one-list.ts'
import { tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, rowsTouched, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'

const at = '2026-03-01T09:00:00.000Z'
const good = { id: 'good', netHours: 1, createdAt: at, updatedAt: at }
const request = { resources: ['timesheets'] }

const quarantined = ({ engine }: Warehouse) =>
  engine.rows<Record<string, string>>(
    'select record_id, path, text, reason, payload from ops.quarantine order by record_id, path',
  )

async function column({ engine }: Warehouse, name: string, id: string): Promise<unknown> {
  const [row] = await engine.rows<{ value: unknown }>(
    `select ${name} as value from star.fact_timesheet where timesheet_id = $1`,
    [id],
  )
  return row?.value
}

describeOnEngines('bad records', bench => {
  /** One page of these between two good records, read twice. */
  const read = async (records: readonly string[]) => {
    const warehouse = await bench.warehouse()
    const list = await oneList('/timesheets', [good, ...records, { ...good, id: 'other' }])
    const outcome = await syncOnce(list, warehouse, { request })
    expect(outcome.failure).toBeUndefined()
    const again = await syncOnce(list, warehouse, { request })
    expect(rowsTouched(again)).toBe(0)
    const [count] = await warehouse.engine.rows<{ n: number }>(
      'select count(*) as n from star.fact_timesheet',
    )
    const [row] = await warehouse.engine.rows('select watermark from ops.watermark')
    expect(row).toEqual({ watermark: at })
    return { warehouse, held: Number(count?.n), bad: await quarantined(warehouse) }
  }

  const kept: readonly (readonly [string, string, string, unknown])[] = [
    ['numbers as texts', `"netHours":"7.5"`, 'net_hours', '7.5000'],
    ['money with four decimals', `"values":{"expense":1234567.8912}`, 'expense_value', '1234567.8912'],
    ['a whole number written with an exponent', `"version":3e0`, 'version', 3],
    ['an integer beyond 53 bits', `"version":9007199254740993`, 'version', '9007199254740993'],
    ['an unknown enum value', `"status":"on hold"`, 'status', '(other)'],
    ['null', `"status":null`, 'status', null],
    ['absence', `"reference":"a"`, 'status', null],
    ['a smile', `"reference":"\\ud83d\\ude00"`, 'reference', '😀'],
    [
      'an escaped backslash before what looks like NUL',
      String.raw`"reference":"\\u0000"`,
      'reference',
      String.raw`\u0000`,
    ],
  ]
  test('are stored where no value is lost', async () => {
    const { warehouse, held, bad } = await read(
      kept.map(([, field], index) => `{"id":"x${index}",${field},"updatedAt":"${at}"}`),
    )
    expect({ held, bad }).toEqual({ held: kept.length + 2, bad: [] })
    for (const [index, [name, , field, value]] of kept.entries())
      expect({ name, value: await column(warehouse, field, `x${index}`) }).toEqual({ name, value })
  })

  const refused: readonly (readonly [string, string, string, string])[] = [
    ['a text where a number belongs', `"netHours":"seven"`, 'netHours', 'not a number'],
    ['an integer beyond 64 bits', `"version":123456789012345678901`, 'version', 'not a whole number'],
    ['a day that does not exist', `"start":"2026-02-30T00:00:00Z"`, 'start', 'not a date and time'],
    ['a list where an object belongs', `"values":{"pay":[1]}`, 'values.pay', 'not an object'],
    ['an object where a list belongs', `"timelogs":{"id":"a"}`, 'timelogs', 'not a list'],
    ['a child without its id', `"timelogs":[{"breaks":"x"}]`, 'timelogs[0].breaks', 'not a number'],
    ['a NUL', `"reference":"a\\u0000b"`, '', 'text with a NUL character'],
    ['half a surrogate pair', `"reference":"a\\ud83d"`, '', 'text with half a surrogate pair'],
  ]
  test('go to quarantine where a value would be lost, and the rest of the page loads', async () => {
    const { held, bad } = await read(
      refused.map(([, field], index) => `{"id":"x${index}",${field},"updatedAt":"${at}"}`),
    )
    expect(held).toBe(2)
    for (const [index, [name, , path, reason]] of refused.entries()) {
      const id = `x${index}`
      const found = bad.filter(row => row.record_id === id && row.path === path && row.reason === reason)
      expect({ name, found: found.map(({ payload }) => JSON.parse(payload!).id) }).toEqual({
        name,
        found: [id],
      })
    }
  })

  test('that are no objects, or have no id, go to quarantine and do not hold up the watermark', async () => {
    const records = [`{"reference":"no id","updatedAt":"${at}"}`, '"no object"', '17', '[]', 'null']
    for (const page of thorough ? records.map(record => [record]) : [records]) {
      const { held, bad } = await read(page)
      expect(held).toBe(2)
      const payloads = bad.map(({ payload }) => JSON.parse(payload!))
      for (const record of page) expect(payloads).toContainEqual(JSON.parse(record))
    }
  })

  test('stores a name of ten million characters completely', async () => {
    const reference = 'n'.repeat(10_000_000)
    const { warehouse } = await read([`{"id":"x","reference":"${reference}","updatedAt":"${at}"}`])
    expect(await column(warehouse, 'length(reference)', 'x')).toBe(10_000_000)
  })
})

describeOnEngines('bad answers', bench => {
  const body = (parts: object) =>
    JSON.stringify({ success: true, data: [], meta: { page: 1, limit: 200, total: 0 }, ...parts })
  const answers: readonly (readonly [string, string])[] = [
    ['no JSON', '<html>maintenance</html>'],
    ['JSON that breaks off', '{"success":true,"data":[{"id":"a"'],
    ['no success', body({ success: false })],
    ['no meta', '{"success":true,"data":[]}'],
    ['a meta of another page', body({ meta: { page: 2, limit: 200, total: 0 } })],
    ['rows missing that the total counts', body({ meta: { page: 1, limit: 200, total: 4 } })],
    ['data that is no list', body({ data: {} })],
    ['nothing at all', ''],
  ]
  for (const resource of ['timesheets', 'access-rules']) {
    const path = resource === 'timesheets' ? '/timesheets' : '/access-rule-mappings'
    test.runIf(thorough || resource === 'access-rules')(
      `${resource}: none of them is an empty page`,
      async () => {
        const warehouse = await bench.warehouse()
        const list = await oneList(path, [{ ...good, a: 'admin', can: 'view' }])
        const only = { request: { resources: ['key', resource] } }
        await syncOnce(list, warehouse, only)
        const before = await tables(warehouse.engine)
        const watermarks = await warehouse.engine.rows('select * from ops.watermark')
        // An answer is judged before it comes to an engine or a strategy: all of them once, some everywhere.
        const all = bench.name === 'duckdb' && resource === 'timesheets'
        for (const [name, answer] of all ? answers : answers.slice(1, 4)) {
          list.whole = () => answer
          const { failure } = await syncOnce(list, warehouse, only)
          expect([name, failure?.exitCode]).toEqual([name, 1])
          expect(failure?.message).toMatch(/bad answer|does not come from the service/)
          expect(await tables(warehouse.engine)).toEqual(before)
          expect(await warehouse.engine.rows('select * from ops.watermark')).toEqual(watermarks)
          list.whole = undefined
          const repaired = await syncOnce(list, warehouse, only)
          expect([name, repaired.failure, rowsTouched(repaired)]).toEqual([name, undefined, 0])
          watermarks.splice(
            0,
            watermarks.length,
            ...(await warehouse.engine.rows('select * from ops.watermark')),
          )
        }
      },
      60_000,
    )
  }

  test('an object without its list of entries removes nothing', async () => {
    const warehouse = await bench.warehouse()
    const list = await oneList('/companies/c1/competency-matrix')
    const entry = { trade: { id: 'x', name: 'Joiner' }, source: 'company', requirements: [] }
    list.whole = () => JSON.stringify({ success: true, data: { entries: [entry] } })
    const only = { request: { resources: ['competency-matrix'] } }
    expect(rowsTouched(await syncOnce(list, warehouse, only))).toBe(1)
    const before = await tables(warehouse.engine)
    for (const data of [{}, { entries: null }, { entries: {} }]) {
      list.whole = () => JSON.stringify({ success: true, data })
      expect((await syncOnce(list, warehouse, only)).failure?.message).toContain('entries')
      expect(await tables(warehouse.engine)).toEqual(before)
    }
  })
})

describeOnEngines('bad surroundings', bench => {
  test('a certificate of an unknown authority', async () => {
    const server = createServer(selfSigned(), (_, response) => response.end('{}')).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const warehouse = await bench.warehouse()
    const outcome = await syncOnce({ url: `https://127.0.0.1:${port}/api` }, warehouse, { request })
    server.close()
    expect(outcome.failure?.message).toContain('certificate')
  })

  test('a wrong key ends the run with 78, a wrong address with a message that names it', async () => {
    const warehouse = await bench.warehouse()
    const list = await oneList('/timesheets', [good])
    const wrongKey = await syncOnce(list, warehouse, { request, connection: { apiKey: 'wrong' } })
    expect([wrongKey.failure?.exitCode, wrongKey.failure?.message]).toEqual([
      78,
      expect.stringContaining('API key'),
    ])
    const { url } = await openSandbox({ records: {}, misdirects: true })
    const elsewhere = await syncOnce({ url: `${url}/elsewhere` }, warehouse, { request })
    expect(elsewhere.failure?.message).toContain('baseUrl')
    const nowhere = await syncOnce({ url: 'http://127.0.0.1:9/api' }, warehouse, { request })
    expect(nowhere.failure?.message).toMatch(/127\.0\.0\.1:9/)
    const states = await warehouse.engine.rows('select distinct state from ops.run')
    expect(states).toEqual([{ state: 'failed' }])
  })

  test('pages that cannot be written', async () => {
    const warehouse = await bench.warehouse()
    const list = await oneList('/timesheets', [good])
    const file = join(mkdtempSync(join(tmpdir(), 'muster-bad-')), 'a file')
    writeFileSync(file, '')
    const outcome = await syncOnce(list, warehouse, {
      request,
      connection: { landing: join(file, 'landing') },
    })
    expect(outcome.failure?.exitCode).toBe(1)
    expect(outcome.failure?.message).toContain(file)
    expect(rowsTouched(await syncOnce(list, warehouse, { request }))).toBe(1)
  })
})

test('one line names a warehouse file that is damaged, locked or forbidden', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bad-'))
  const opening = (name: string) => openDuckdb(join(folder, name)).then(engine => engine.close())
  writeFileSync(join(folder, 'text.duckdb'), 'this is no database '.repeat(1000))
  await expect(opening('text.duckdb')).rejects.toThrow(/not a DuckDB file.*text\.duckdb/)
  mkdirSync(join(folder, 'folder.duckdb'))
  await expect(opening('folder.duckdb')).rejects.toThrow(/folder\.duckdb/)
  writeFileSync(join(folder, 'closed.duckdb'), '')
  chmodSync(join(folder, 'closed.duckdb'), 0o000)
  if (process.getuid?.() !== 0) await expect(opening('closed.duckdb')).rejects.toThrow(/closed\.duckdb/)
})

test('an unknown key in the settings is named with the nearest known one', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'muster-bad-')), 'muster.yaml')
  writeFileSync(file, 'connections:\n  a:\n    baseURL: https://api.example.com/api\n')
  const { code, err } = await muster(`sync --config ${file}`)
  expect(code).toBe(78)
  expect(err).toMatch(/baseURL.*baseUrl/)
})
