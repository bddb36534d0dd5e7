/**
 * A warehouse that holds everything the sandbox knows: what a sync reads, and every requisition, assignment, trade, rate,
 * credit note and purchase order by its id. Made once for each state of the code and kept in the temporary folder.
 */
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { collections, findResource } from '../../src/contract/catalogue.ts'
import { type Resource, rowsAt } from '../../src/contract/fields/resource.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { copyWarehouse } from '../../src/publish/copy.ts'
import { fileSource } from '../../src/publish/copy-ends.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import type { CollectionName } from '../../src/sandbox/world.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { loadOnce } from './loaded-pages.ts'
import { filledDatabase } from './postgres-database.ts'
import { madeOnce } from './shared-file.ts'
import { throwAway } from './throwaway-file.ts'
import { structureName, syncOnce, templateFile, type Warehouse } from './warehouse-fixture.ts'

/** The morning after the day on which the sandbox's data ends. */
export const filledAt = '2026-11-02T02:30:00.000Z'
const clock: Clock = { now: () => Date.parse(filledAt), sleep: async () => undefined }

const byId: readonly (readonly [resource: string, collection: CollectionName, query: string])[] = [
  ['requisitions', 'requisitions', '?includeStageTracking=true'],
  ['assignments', 'assignments', ''],
  ['trades', 'trades', '?includeRates=true&includeCompetencyMatrix=true'],
  ['rates', 'rates', ''],
  ['credit-notes', 'creditNotes', ''],
  ['purchase-orders', 'purchaseOrders', ''],
]

const root = fileURLToPath(new URL('../../', import.meta.url))

/** What decides the rows of a filled warehouse. */
function codeName(): string {
  const folders = [
    'src/lib',
    'src/contract',
    'src/sandbox',
    'src/api',
    'src/landing',
    'src/warehouse',
    'src/state',
    'src/load',
    'src/sync',
  ]
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)))
  for (const folder of [...folders, 'sql/seed', 'sql/view'])
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).sort()) {
      const path = join(root, folder, file)
      if (statSync(path).isFile()) hash.update(file).update(readFileSync(path))
    }
  return hash.digest('hex').slice(0, 16)
}

/** Answers of the service for every id, each landed as the page it is, in one batch a resource. */
export async function loadAll(engine: Engine, sandbox: Sandbox, folder: string): Promise<void> {
  for (const [name, collection, query] of byId) {
    const resource = findResource(name) as Resource
    const ids = sandbox.world.all(collection).map(record => String(record.id))
    const pages = await Promise.all(
      ids.map(async (id, index) => {
        const response = await fetch(`${sandbox.url}/${name}/${id}${query}`, {
          headers: { authorization: `Bearer ${sandboxKeys.company}` },
        })
        if (response.status !== 200) throw new Error(`${name}/${id} is answered ${response.status}`)
        const file = join(folder, `${name}-${index}.json`)
        const bytes = Buffer.from(await response.arrayBuffer())
        writeFileSync(file, bytes)
        return { file, bytes: bytes.length, fetchedAt: filledAt, runId: 'by-id', scope: {} }
      }),
    )
    const loaded = await loadOnce(engine, resource, { pages, rows: rowsAt(resource) })
    // The sync has read some of them already.
    if (loaded.inserted + loaded.unchanged !== ids.length)
      throw new Error(`${name}: ${JSON.stringify(loaded)} of ${ids.length}`)
  }
}

interface FilledWorld {
  readonly scale: number
  readonly seed: number
}

async function fill(file: string, world: FilledWorld): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-filling-'))
  const fresh = join(folder, 'new.duckdb')
  const sandbox = await keptSandbox({ ...world, rateLimitPerMinute: 100_000, rateLimitPerDay: 10_000_000 })
  copyFileSync(await templateFile(), fresh)
  const engine = await openDuckdb(fresh)
  try {
    const landing = join(folder, 'landing')
    mkdirSync(landing)
    const warehouse = {
      engine,
      landing,
      address: '',
      close: async () => undefined,
      open: async () => undefined,
    }
    const request = { resources: collections.map(({ name }) => name) }
    const { failure } = await syncOnce(sandbox, warehouse, { request, effects: { clock } })
    if (failure) throw failure
    await loadAll(engine, sandbox, landing)
    await engine.run('checkpoint')
  } finally {
    await engine.close()
    await sandbox.close()
  }
  renameSync(fresh, file)
  rmSync(folder, { recursive: true, force: true })
}

const dayMs = 86_400_000

/** Files of code that is no more. */
function removeOld(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!/^muster-filled-.*\.duckdb$/.test(name)) continue
    const path = join(tmpdir(), name)
    if (Date.now() - statSync(path).mtimeMs > dayMs) rmSync(path, { force: true })
  }
}

async function filledFile(world: FilledWorld): Promise<{ file: string; name: string }> {
  const { scale, seed } = world
  const name = `${codeName()}_${String(scale).replace('.', '_')}${seed === 1 ? '' : `_of_${seed}`}`
  const file = join(tmpdir(), `muster-filled-${name}.duckdb`)
  await madeOnce(file, () => {
    removeOld()
    return fill(file, world)
  })
  return { file, name }
}

type Made = Warehouse & { remove(): Promise<void> }

async function duckdbCopy(world: FilledWorld, folder: string): Promise<Made> {
  const file = join(folder, 'filled.duckdb')
  copyFileSync((await filledFile(world)).file, file)
  return openMade({ address: `duckdb:${file}`, folder, begin: () => openDuckdb(file) })
}

async function postgresCopy(world: FilledWorld, folder: string): Promise<Made> {
  const { file, name } = await filledFile(world)
  const { url, drop } = await filledDatabase({ name, structure: structureName() }, async engine => {
    const own = join(folder, 'source.duckdb')
    copyFileSync(file, own)
    const source = await fileSource(own, engine)
    await copyWarehouse(source, engine, () => undefined)
    await source.close()
  })
  const begin = () =>
    openPostgres({ url, shown: 'the filled database' }, { scratch: join(folder, 'scratch') })
  return openMade({ address: url, folder, begin, drop })
}

interface Place {
  readonly address: string
  readonly folder: string
  readonly begin: () => Promise<Engine>
  readonly drop?: () => Promise<void>
}

async function openMade({ address, folder, begin, drop }: Place): Promise<Made> {
  let engine: Engine | undefined = await begin()
  return {
    get engine() {
      if (!engine) throw new Error('the warehouse is closed')
      return engine
    },
    address,
    landing: join(folder, 'landing'),
    close: async () => {
      await engine?.close()
      engine = undefined
    },
    open: async () => {
      engine ??= await begin()
    },
    async remove() {
      await throwAway(engine)
      await drop?.()
    },
  }
}

/**
 * Filled warehouses for one test file, each a copy of its own that the file may change; removed after its tests. Every
 * scale is made by itself: 0.2 (1,000 timesheets, 87 requisitions) takes some 4 s of a quiet machine, 1 takes 10 s.
 */
export function useFilled({
  scale = 0.2,
  seed = 1,
} = {}): Readonly<Record<Engine['kind'], () => Promise<Warehouse>>> {
  const open: { warehouse: Made; folder: string }[] = []
  afterAll(async () => {
    for (const { warehouse, folder } of open.splice(0)) {
      await warehouse.remove()
      rmSync(folder, { recursive: true, force: true })
    }
  })
  const make = (copy: typeof duckdbCopy) => async () => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-filled-'))
    const warehouse = await copy({ scale, seed }, folder)
    open.push({ warehouse, folder })
    return warehouse
  }
  return { duckdb: make(duckdbCopy), postgres: make(postgresCopy) }
}
