/** Whatever reading of the contract the service has, the same records arrive. */
import { expect, test } from 'vitest'
import type { ContractOptions } from '../../src/sandbox/options.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import type { Dump } from '../support/warehouse-dump.ts'
import { type Bench, describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { followed, hourly, request, roomy } from './day-readings.ts'
import { current } from './faulty-sync.ts'

const readings: Partial<ContractOptions>[] = [
  { from: 'exclusive', to: 'exclusive', 'day-zone': '-12:00' },
  { from: 'exclusive', to: 'midnight', 'day-zone': '+14:00', 'rate-window': 'sliding' },
]

/** A field of the option `extra` inside a document that is kept whole. */
const extraInside = /,?\\"ext[A-Z]\w+\\":(\{[^}]*\}|\[[^\]]*\]|\\"[^"]*\\"|[\w.]+)/g

/** An empty object in a setting is a leaf until a field is added to it. */
const emptyLeaf = /"value_type":"empty"/

/** Hashes count fields that the contract does not name, and settings of any name are rows of their own. */
function withoutExtras(rows: readonly string[]): string[] {
  return rows
    .filter(row => !/"setting_path":"[^"]*ext[A-Z]/.test(row) && !emptyLeaf.test(row))
    .map(row => row.replace(/"row_hash":"[^"]*"/, '').replace(extraInside, ''))
    .sort()
}

/** Every resource of a small world. Fields that the contract does not name are kept apart: they are meant to differ. */
async function generated(bench: Bench, options: Partial<ContractOptions>): Promise<Dump> {
  const sandbox = await openSandbox({ scale: 0.01, ...roomy, options })
  const warehouse = await bench.warehouse()
  const outcome = await syncOnce(sandbox, warehouse)
  expect(outcome.failure).toBeUndefined()
  const dump = Object.entries(await current(warehouse))
  return Object.fromEntries(
    dump
      .filter(([name]) => !name.endsWith('.attribute_leaf'))
      .map(([name, rows]) => [name, withoutExtras(rows)]),
  )
}

describeOnEngines('a sync loses nothing', bench => {
  test.each(readings)('when days are scanned again, with %j', async options => {
    const sandbox = await openSandbox({ records: hourly, ...roomy, options })
    const warehouse = await bench.warehouse()
    const between = { from: '2026-01-06', to: '2026-01-08' }
    const outcome = await syncOnce(sandbox, warehouse, { request: { ...request, between } })
    expect(outcome.failure).toBeUndefined()
    const rows = await warehouse.engine.rows<{ n: number }>(
      `select count(*)::integer as n from star.fact_timesheet where created_at >= '2026-01-06' and created_at < '2026-01-09'`,
    )
    expect(rows).toEqual([{ n: 72 }])
  })

  test('whatever the day filters mean', async () => {
    const plain = await followed(bench, {})
    for (const options of readings)
      expect({ options, dump: await followed(bench, options) }).toEqual({ options, dump: plain })
  })

  test('whatever is null, left out, or added', async () => {
    const plain = await generated(bench, {})
    expect(Object.keys(plain).length).toBeGreaterThan(40)
    const others: Partial<ContractOptions>[] = [
      { absent: 'random', extra: 0.3, 'extra-in': 'everywhere', to: 'exclusive', 'day-zone': '-12:00' },
    ]
    for (const options of others) {
      const dump = await generated(bench, options)
      for (const name of new Set([...Object.keys(plain), ...Object.keys(dump)]))
        expect({ options, name, rows: dump[name] }).toEqual({ options, name, rows: plain[name] })
    }
  })
})
