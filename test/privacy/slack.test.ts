/** A file that is longer than its rows need is written anew by retention, and others are left as they are. */
import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { openPlace } from '../cli/synced-warehouse.ts'

const fill = `insert into pii.worker_history (worker_id, name, valid_to)
  select 'w' || i, md5(i::varchar) || sha256(i::varchar), '2999-01-01' from range(400_000) r(i)`

test('retention writes a file anew once, and again when a fifth of its blocks is free', async () => {
  const place = await openPlace()
  const retention = async () => {
    const { code, out } = await place.command('retention --json')
    expect(code).toBe(0)
    return (JSON.parse(out) as { file: { before: number; after: number } | null }).file
  }
  const change = async (...statements: readonly string[]) => {
    const engine = await openDuckdb(place.file)
    for (const statement of statements) {
      await engine.run(statement)
      await engine.run('checkpoint')
    }
    await engine.close()
  }
  expect((await place.command('sync --quiet')).code).toBe(0)
  await change(fill)
  const before = statSync(place.file).size
  const first = await retention()
  expect(first?.before).toBeGreaterThanOrEqual(before)
  expect(first?.after).toBeLessThan(before)
  expect((await place.command('runs')).out.match(/retention\s+done/g)).toHaveLength(1)
  expect(await retention()).toBeNull()
  const anew = statSync(place.file).size
  await change(`update pii.worker_history set name = reverse(name)`)
  expect(statSync(place.file).size).toBeGreaterThan(1.3 * anew)
  const { out } = await place.command('retention')
  expect(out).toMatch(/^the file was written anew: it had [\d.]+ MB, and has [\d.]+ MB$/m)
  expect(statSync(place.file).size).toBeLessThan(1.3 * anew)
  expect(await retention()).toBeNull()
})

test('a file without room for a second one beside it is left as it is', async () => {
  const place = await openPlace()
  expect((await place.command('sync --quiet')).code).toBe(0)
  const retention = await place.command('retention --json', { MUSTER_RESERVE_MEGABYTES: '999999999' })
  expect(retention).toMatchObject({ code: 0 })
  expect(JSON.parse(retention.out).file).toBeNull()
})
