/** Deletes scans whose pages have passed their retention period. */
import { basename } from 'node:path'
import { damageIn } from './damage.ts'
import type { Landing } from './landing.ts'
import { dayOfScan, pageFacts } from './layout.ts'
import { deleteScan, landedFiles, readManifest } from './manifest.ts'
import type { LandingStore } from './store.ts'

/** Whether the page with this name was fetched before the time. */
export const isPageOlder = (name: string, before: number): boolean =>
  Date.parse(pageFacts(basename(name))?.fetchedAt ?? '') < before

/** Whether every page was fetched before the time. A damaged scan stays, so that `muster check` reports it. */
async function isOlder(store: LandingStore, scan: string, before: number): Promise<boolean> {
  if (dayOfScan(scan) >= before) return false
  try {
    const { state, lastAt } = (await readManifest(store, scan))?.manifest ?? {}
    if (state !== 'open') return state !== undefined && (lastAt === undefined || Date.parse(lastAt) < before)
    return (await landedFiles(store, scan)).every(({ name }) => isPageOlder(name, before))
  } catch (error) {
    if (damageIn(scan, error)) return false
    throw error
  }
}

export async function isAnyExpired(
  { store }: Landing,
  scans: readonly string[],
  before: number,
): Promise<boolean> {
  for (const scan of scans) if (await isOlder(store, scan, before)) return true
  return false
}

/** Deletes scans whose pages were all fetched before `before`, in milliseconds; returns how many. */
export async function expire({ store }: Landing, scans: readonly string[], before: number): Promise<number> {
  let deleted = 0
  for (const scan of scans) {
    if (!(await isOlder(store, scan, before))) continue
    await deleteScan(store, scan)
    deleted += 1
  }
  return deleted
}
