/** A writer whose lease another process has taken writes nothing more. */
import { beforeEach, expect, test } from 'vitest'
import { type Lease, takeLease } from '../../../src/state/runs/leases.ts'
import { fenced } from '../../../src/sync/run/renew-lease.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'

const warehouse = rulesWarehouse()

type FencedTask = Parameters<typeof fenced>[0]

const taskWith = (lease: Lease): FencedTask => ({ sync: { engine: warehouse.engine }, lease }) as FencedTask

const take = (holder: string, ms = 60_000): Promise<Lease> =>
  takeLease(warehouse.engine, { resource: 'rates', holder, ms })

const writeOne = (lease: Lease): Promise<number> =>
  fenced(taskWith(lease), engine => engine.run(`insert into written values (1)`))

const written = async (): Promise<number> => (await warehouse.rows('select * from written')).length

beforeEach(async () => {
  await warehouse.engine.run('create or replace table written (n integer); delete from ops.lease')
})

test('the holder of a lease writes', async () => {
  expect(await writeOne(await take('one'))).toBe(1)
  expect(await written()).toBe(1)
})

test('what a process writes whose lease another has taken is rolled back', async () => {
  const lost = await take('one')
  await take('another')
  await expect(writeOne(lost)).rejects.toThrow('another process has taken over rates')
  expect(await written()).toBe(0)
})

test('an earlier lease of the same holder does not count any more', async () => {
  const earlier = await take('one')
  await take('one')
  await expect(writeOne(earlier)).rejects.toThrow('another process has taken over rates')
  expect(await written()).toBe(0)
})

test('each write renews the lease', async () => {
  const lease = await take('one', 1_000)
  const expires = `select max(expires_at) - now() > interval '30 seconds' as is_long from ops.lease`
  expect(await warehouse.rows(expires)).toEqual([{ is_long: false }])
  await writeOne({ ...lease, ms: 60_000 })
  expect(await warehouse.rows(expires)).toEqual([{ is_long: true }])
})
