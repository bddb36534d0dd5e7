/** What must hold after kills, for the quick and the long test alike. */
import { expect } from 'vitest'
import type { Bench } from '../support/warehouse-fixture.ts'
import { surviveKills } from './killed-serve.ts'

export async function losesNothing(bench: Bench, kills: number): Promise<number> {
  const warehouse = await bench.warehouse()
  const acknowledged = await surviveKills(warehouse, kills)
  const rows = await warehouse.engine.rows<{ event_id: string }>(
    'select event_id from star.fact_webhook_event',
  )
  const held = new Set(rows.map(row => row.event_id))
  expect(held.size).toBe(rows.length)
  expect([...acknowledged].filter(id => !held.has(id))).toEqual([])
  expect(acknowledged.size).toBeGreaterThan(kills * 20)
  return acknowledged.size
}
