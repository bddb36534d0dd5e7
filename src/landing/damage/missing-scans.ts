/** Scans that the journal of a landing has, and that are not there. */
import type { Landing } from '../folder.ts'
import { pagesJournalOf, scansJournal } from '../journal.ts'
import { factsName } from '../scan-facts.ts'
import type { LandingStore } from '../store.ts'
import { type Damage, damageIn, readable } from './damaged.ts'

/** Another process may have landed or archived it since the others were listed. */
const isThere = async (store: LandingStore, scan: string): Promise<boolean> =>
  (await store.has(`${scan}/${factsName}`)) || (await store.list(`${scan}.archive`)).length > 0

/** Why a folder that is there is no scan. */
const whyNoFacts = async (store: LandingStore, scan: string): Promise<string> =>
  (await readable(scan, async () => void (await store.list(scan)))) ?? 'scan.json is missing'

/** Scans that are gone though nobody has removed them; `found` are those that are there. */
export async function missingScans(landing: Landing, found: readonly string[]): Promise<Damage[]> {
  try {
    return await missingAmong(landing, found)
  } catch (error) {
    const damage = damageIn(scansJournal, error)
    if (!damage) throw error
    return [damage]
  }
}

async function missingAmong({ store }: Landing, found: readonly string[]): Promise<Damage[]> {
  const journal = await store.sums(scansJournal)
  if (!journal) {
    for (const scan of found)
      if (await store.sums(pagesJournalOf(scan))) return [{ scan: scansJournal, what: 'it is missing' }]
    return []
  }
  const gone: string[] = []
  for (const scan of journal.kept.keys())
    if (!found.includes(scan) && !(await isThere(store, scan))) gone.push(scan)
  const folders = gone.length > 0 ? new Set(await store.folders()) : new Set()
  const damage: Damage[] = []
  for (const scan of gone) {
    const isFolder = folders.has(scan)
    damage.push({ scan, what: isFolder ? await whyNoFacts(store, scan) : 'its folder or archive is missing' })
  }
  return journal.isDamaged ? [{ scan: scansJournal, what: 'it cannot be read' }, ...damage] : damage
}
