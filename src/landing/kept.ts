/** What is kept of a landing: what of it is damaged, and what is too old. */
import { dayMs } from '../lib/dates.ts'
import { archiveOf, archives, keptScans } from './archive.ts'
import { type Damage, damageIn } from './damage/damaged.ts'
import { missingScans } from './damage/missing-scans.ts'
import { archiveDamage, folderDamage } from './damage/of-files.ts'
import type { Landing } from './folder.ts'
import { scansJournal } from './journal.ts'
import { pageFacts } from './scan-facts.ts'

/** Reads so much of the archives at once: 2 s of a disk that gives 500 MB/s. */
const mostAtOnce = 1_000_000_000

/** Checksums of larger landings are compared a seventh a day, so that each archive is read once a week. */
const parts = 7

function isTurn(name: string, day: number): boolean {
  const sum = [...name].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  return sum % parts === day % parts
}

/** An archive that cannot be listed takes no time to read. */
async function bytesOf({ store }: Landing, scans: readonly string[]): Promise<number> {
  let sum = 0
  for (const scan of scans)
    try {
      for (const { bytes } of await store.list(archiveOf(scan))) sum += bytes
    } catch (error) {
      if (!damageIn(scan, error)) throw error
    }
  return sum
}

/** What of the landed pages cannot be replayed; `now` in milliseconds since the epoch. Pages of open scans are read again. */
export async function damageOf(landing: Landing, now: number, open: ReadonlySet<string>): Promise<Damage[]> {
  const archived = await archives(landing)
  const isSmall = (await bytesOf(landing, archived)) <= mostAtOnce
  const damage: Damage[] = []
  const note = (scan: string, what: string | undefined): void => {
    if (what !== undefined) damage.push({ scan, what })
  }
  for (const scan of archived) {
    const isDeep = isSmall || isTurn(archiveOf(scan), Math.floor(now / dayMs))
    note(scan, await archiveDamage(landing.store, archiveOf(scan), isDeep))
  }
  for (const scan of await landing.scans())
    if (!open.has(scan)) note(scan, await folderDamage(landing, scan, isSmall))
  const missing = await missingScans(landing, await keptScans(landing))
  return [...damage, ...missing.filter(({ scan }) => !open.has(scan))]
}

/** When a scan began, which its id tells: its archive is younger. */
function beginning(scan: string): number {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)T\d{9}Z-/.exec(scan) ?? []
  return year ? Date.UTC(Number(year), Number(month) - 1, Number(day)) : 0
}

async function expired(landing: Landing, before: number): Promise<string[]> {
  const old: string[] = []
  for (const scan of await archives(landing))
    if (beginning(scan) < before && (await landing.store.writtenAt(archiveOf(scan))) < before) old.push(scan)
  return old
}

/** Scans among these whose every page was landed before `before` (milliseconds) go; returns how many. */
export async function expirePages(
  landing: Landing,
  scans: readonly string[],
  before: number,
): Promise<number> {
  let removed = 0
  for (const scan of scans) {
    if (beginning(scan) >= before) continue
    const pages = (await landing.store.list(scan)).flatMap(({ name }) => pageFacts(name) ?? [])
    if (pages.some(({ fetchedAt }) => Date.parse(fetchedAt) >= before)) continue
    await landing.discard(scan)
    removed += 1
  }
  return removed
}

export const isAnyExpired = async (landing: Landing, before: number): Promise<boolean> =>
  (await expired(landing, before)).length > 0

/** Removes archives last written before `before` (milliseconds); returns how many. */
export async function expire(landing: Landing, before: number): Promise<number> {
  const old = await expired(landing, before)
  for (const scan of old) {
    await landing.store.noteGone(scansJournal, scan)
    await landing.store.remove(archiveOf(scan))
  }
  return old.length
}
