/** Retention rewrites a file that is longer than its rows need, and leaves others as they are. */
import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { openPlace } from '../support/synced-warehouse.ts'

const fill = `insert into pii.worker_history (worker_id, name, valid_to)
  select 'w' || i, md5(i::varchar) || sha256(i::varchar), '2999-01-01' from range(400_000) r(i)`

type Place = Awaited<ReturnType<typeof openPlace>>

/** The size of the file before and after, where retention rewrote it. */
async function rewriteByRetention(place: Place): Promise<{ before: number; after: number } | null> {
  const { code, out } = await place.command('retention --json')
  expect(code).toBe(0)
  return JSON.parse(out).file
}

/** Each statement followed by a checkpoint. */
async function change(place: Place, ...statements: readonly string[]): Promise<void> {
  const engine = await openDuckdb(place.file)
  for (const statement of statements) {
    await engine.run(statement)
    await engine.run('checkpoint')
  }
  await engine.close()
}

test('retention rewrites a file once, and again when a fifth of its blocks is free', async () => {
  const place = await openPlace()
  expect((await place.command('sync --quiet')).code).toBe(0)
  await change(place, fill)
  const before = statSync(place.file).size
  const first = await rewriteByRetention(place)
  expect(first?.before, 'before the first').toBeGreaterThanOrEqual(before)
  expect(first?.after, 'after the first').toBeLessThan(before)
  expect((await place.command('runs')).out.match(/retention\s+done/g)).toHaveLength(1)
  expect(await rewriteByRetention(place), 'a second one at once').toBeNull()
  const rewritten = statSync(place.file).size

  await change(place, `update pii.worker_history set name = reverse(name)`)
  expect(statSync(place.file).size, 'after a change of all rows').toBeGreaterThan(1.3 * rewritten)
  const { out } = await place.command('retention')
  expect(out).toMatch(/^the file was rewritten: from [\d.]+ MB to [\d.]+ MB$/m)
  expect(statSync(place.file).size, 'after the last retention').toBeLessThan(1.3 * rewritten)
  expect(await rewriteByRetention(place), 'after it was rewritten again').toBeNull()
})

test('a file without room for a second one beside it is left as it is', async () => {
  const place = await openPlace()
  expect((await place.command('sync --quiet')).code).toBe(0)
  const retention = await place.command('retention --json', { MUSTER_RESERVE_MEGABYTES: '999999999' })
  expect(retention).toMatchObject({ code: 0 })
  expect(JSON.parse(retention.out).file).toBeNull()
})
