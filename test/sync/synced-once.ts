/** A warehouse that has synced a service once, as a copy where a copy is cheaper than a sync. */
import { copyFileSync, existsSync, mkdtempSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Bench, Warehouse } from '../support/warehouse-fixture.ts'

export interface FirstSync {
  /** Equal for equal content. */
  readonly name: string
  /** Brings the content into an empty warehouse. */
  readonly sync: (warehouse: Warehouse) => Promise<unknown>
}

async function templateOf(bench: Bench, { name, sync }: FirstSync): Promise<string> {
  const file = join(tmpdir(), `muster-synced-${name}.duckdb`)
  if (existsSync(file)) return file
  const warehouse = await bench.warehouse()
  await sync(warehouse)
  await warehouse.engine.run('checkpoint')
  await warehouse.close()
  renameSync(warehouse.address.replace(/^duckdb:/, ''), file)
  return file
}

async function copyOf(template: string): Promise<Warehouse> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-synced-'))
  const file = join(folder, 'test.duckdb')
  copyFileSync(template, file)
  const engine = await openDuckdb(file)
  // Statements over a few hundred rows: a second thread costs a third more of the processor and is no faster.
  await engine.run('set threads = 1')
  // The file is thrown away.
  await engine.run('pragma disable_checkpoint_on_shutdown')
  return {
    engine,
    address: `duckdb:${file}`,
    landing: join(folder, 'test.landing'),
    close: () => engine.close(),
    open: async () => undefined,
  }
}

/** On DuckDB a copy of a file that was synced once for all who ask for this content. */
export async function syncedOnce(bench: Bench, first: FirstSync): Promise<Warehouse> {
  if (bench.name === 'duckdb') return copyOf(await templateOf(bench, first))
  const warehouse = await bench.warehouse()
  await first.sync(warehouse)
  return warehouse
}
