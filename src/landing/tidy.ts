/** What a process that was killed has left in a landing: no scan and no archive, and still personal data. */

import { archiveOf } from './archive.ts'
import type { Landing } from './folder.ts'
import { scansJournal } from './journal.ts'
import { isPacked, sumsIn } from './manifest.ts'
import { isPageName } from './scan-facts.ts'

/** Pages of a scan that was archived or given up, and of which the facts are gone already. */
export async function removeLeftPages(landing: Landing): Promise<void> {
  const { store } = landing
  const folders = await store.folders()
  const journal = await store.sums(scansJournal)
  // A landing of an earlier release does not tell which scans it has.
  if (!journal) return
  for (const scan of folders) {
    const isOver = folders.includes(archiveOf(scan)) || !journal.kept.has(scan)
    if (!isOver || scan.includes('.archive') || (await landing.has(scan))) continue
    if ((await store.list(scan)).some(({ name }) => isPageName(name))) await store.remove(scan)
  }
}

/**
 * Archives of scans that still have their pages, and files of an archive that its manifest does not name. To be called where
 * nobody else makes archives: those of another process would be taken for left ones.
 */
export async function removeLeftArchives({ store }: Landing, scans: readonly string[]): Promise<void> {
  for (const archive of (await store.folders()).filter(name => name.endsWith('.archive'))) {
    if (scans.some(scan => archiveOf(scan) === archive)) {
      await store.remove(archive)
      continue
    }
    const sums = await sumsIn(store, archive)
    if (!sums) continue
    for (const { name } of await store.list(archive))
      if (isPacked(name) && !sums.some(sum => sum.name === name)) await store.remove(`${archive}/${name}`)
  }
}
