/** The pages of an archive, unpacked into one file: a file for each took a quarter of the time of a replay. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checkedArchive } from './archive.ts'
import { type CheckedPages, whatOfBytes } from './damage/of-files.ts'
import type { LandedPage, Landing } from './folder.ts'
import type { PackedPage, Packing } from './packed-pages.ts'
import { pageFacts, type ScanFacts } from './scan-facts.ts'

export interface Unpacked extends CheckedPages {
  readonly facts: ScanFacts
}

/** A file of pages, one behind the other. */
class UnpackedFile {
  readonly #file: string
  readonly #opened: number
  #end = 0
  /** By name: of a page that an archive has twice, the later one counts. */
  readonly #pages = new Map<string, LandedPage>()

  constructor(file: string) {
    this.#file = file
    this.#opened = openSync(file, 'w', 0o600)
  }

  /** In the order of their arrival. */
  get pages(): LandedPage[] {
    return [...this.#pages.values()].sort((one, other) => (one.file < other.file ? -1 : 1))
  }

  add({ name, bytes }: PackedPage): void {
    const facts = pageFacts(name)
    if (!facts) return
    const start = this.#end
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#opened, bytes, at)
    this.#end += bytes.length
    this.#pages.set(name, {
      ...facts,
      file: join(dirname(this.#file), name),
      within: { file: this.#file, start, bytes: bytes.length },
      bytes: bytes.length,
    })
  }

  close(): void {
    closeSync(this.#opened)
  }
}

/**
 * The pages of an archived scan as parts of `file`, which the caller removes: those that are as they were landed. Without a manifest,
 * as of an earlier release, a page has to be JSON. Throws Damaged.
 */
export async function unpackInto(
  landing: Landing,
  scanId: string,
  { file, pack }: { readonly file: string; readonly pack: Packing },
): Promise<Unpacked> {
  const archive = await checkedArchive(landing, scanId)
  const damaged: string[] = []
  const unpacked = new UnpackedFile(file)
  try {
    for await (const pages of archive.pages(pack))
      for (const page of pages) {
        const what = archive.isProved ? undefined : whatOfBytes(page.name, page.bytes)
        if (what === undefined) unpacked.add(page)
        else damaged.push(what)
      }
  } finally {
    unpacked.close()
  }
  archive.release()
  return { facts: archive.facts, pages: unpacked.pages, damaged }
}
