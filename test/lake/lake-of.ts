/** A lake in a temporary folder, and what publishes to it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type LakePublication, type LakeRequest, publishToLake } from '../../src/lake/publish.ts'
import { type LakeStore, openLake } from '../../src/lake/store.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { newRunId } from '../../src/state/runs/runs.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { filledAt } from '../support/filled-warehouse.ts'

const rng = seededRng(7)
let now = Date.parse(filledAt)

/** Moves on by a minute with each publication. */
export const lakeClock = { now: () => now, sleep: async () => undefined }

export function passDays(days: number): void {
  now += days * 86_400_000
}

/** A folder for one lake. */
export function lakeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'muster-lake-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function folderLake(folder = lakeFolder()): LakeStore {
  const store = openLake({ folder })
  onTestFinished(() => store.close())
  return store
}

export function publishTo(
  store: LakeStore,
  engine: Engine,
  more: Partial<LakeRequest> = {},
): Promise<LakePublication> {
  now += 60_000
  return publishToLake({
    engine,
    store,
    connection: 'acme',
    runId: newRunId(lakeClock, rng),
    clock: lakeClock,
    signal: new AbortController().signal,
    schemas: ['star', 'mart', 'ops', 'history'],
    retentionDays: 30,
    ...more,
  })
}

/** The store with one method replaced. */
export const storeWith = (store: LakeStore, other: Partial<LakeStore>): LakeStore =>
  Object.create(store, Object.getOwnPropertyDescriptors(other)) as LakeStore
