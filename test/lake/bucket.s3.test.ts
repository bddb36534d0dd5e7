/** A lake in a bucket: published by the program, as a table that one writer at a time extends. */
import { expect, test } from 'vitest'
import { openLake } from '../../src/lake/store.ts'
import { startS3 } from '../landing/bucket/s3-server.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { machine } from '../support/machine.ts'

const s3 = await startS3()

test('a warehouse is published to a bucket, again without a file, checked, and named by status and doctor', async () => {
  const bucket = await s3.bucket()
  const sandbox = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })
  const env = { ...s3.env, MUSTER_BASE_URL: sandbox.url, MUSTER_WAREHOUSE: 'duckdb:w.duckdb' }
  const here = machine({ ...env, MUSTER_LAKE: `s3://${bucket.name}/lake` })
  expect(await here.run('sync --quiet timesheets sites')).toMatchObject({ code: 0, err: '' })
  const first = await here.run('lake publish')
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toMatch(/published \d+ tables, \d+ files, [\d.]+ MB written: s3:\/\/muster-test-1\/lake/)
  const keys = await bucket.keys()
  expect(keys).toContain('lake/star/fact_timesheet/_delta_log/00000000000000000000.json')
  expect(keys.every(key => key.startsWith('lake/') && !key.includes('/try-'))).toBe(true)
  expect((await here.run('lake publish')).out).toMatch(/nothing has changed in \d+ tables/)
  expect(await bucket.keys()).toEqual(keys)
  expect((await here.run('lake check')).code).toBe(0)
  expect((await here.run('status')).out).toMatch(/^lake: published (just now|.* ago), \d+ tables/m)
  expect((await here.run('doctor')).out).toContain('keeps writers apart')
  const file = keys.find(key => key.includes('/star/fact_timesheet/connection=')) ?? ''
  await bucket.remove(file)
  const damaged = await here.run('lake check')
  expect(damaged.code).toBe(3)
  expect(damaged.out).toContain('star.fact_timesheet: missing')
  expect((await here.run('lake publish')).code).toBe(0)
  expect((await here.run('lake check')).code).toBe(0)
})

test('a bucket without conditional writes is refused, and nothing is written', async () => {
  const bucket = await s3.bucket()
  const sandbox = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })
  const env = { ...s3.env, MUSTER_BASE_URL: sandbox.url, MUSTER_WAREHOUSE: 'duckdb:w.duckdb' }
  const here = machine({ ...env, MUSTER_LAKE: `s3://${bucket.name}` })
  expect(await here.run('sync --quiet sites')).toMatchObject({ code: 0 })
  s3.onRequest = ({ method, path }) => (method === 'PUT' && path.includes('_muster/try') ? 501 : undefined)
  const refused = await here.run('lake publish')
  s3.onRequest = () => undefined
  expect(refused.code).toBe(78)
  expect(refused.err).toContain('cannot keep two writers apart')
  expect(await bucket.keys()).toEqual([])
})

test('only one of two writers creates a file', async () => {
  const bucket = await s3.bucket()
  Object.assign(process.env, s3.env)
  const place = { url: `s3://${bucket.name}`, bucket: bucket.name, prefix: '', isOther: true }
  const store = openLake({ folder: '/tmp', bucket: place })
  const made = await Promise.all([1, 2, 3].map(at => store.create('a/1.json', Buffer.from(`writer ${at}`))))
  expect(made.filter(Boolean)).toHaveLength(1)
  store.close()
})
