/** Files that a batch needs while it loads, such as pages that DuckDB cannot read as they are stored. They are temporary. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pageName } from '../../lib/stored-page.ts'
import { makeScratch, type Scratch } from '../../temporary/scratch.ts'
import type { PageFile } from './pages.ts'

export class BatchFiles {
  readonly #beside: string
  #folder: Scratch | undefined
  #copies = 0

  constructor([first]: readonly PageFile[]) {
    // Not in the folder of the scan, whose files other processes list.
    this.#beside = dirname(dirname(first?.file ?? ''))
  }

  /** Most batches need none, and make no folder. */
  named(name: string): string {
    this.#folder ??= makeScratch(this.#beside)
    return join(this.#folder.path, name)
  }

  /** The page with these bytes, as a file of its own. Pages of several scans may have one name. */
  copy(page: PageFile, bytes: Buffer): PageFile {
    this.#copies += 1
    const folder = this.named(String(this.#copies))
    mkdirSync(folder, { mode: 0o700 })
    const file = join(folder, pageName(page))
    writeFileSync(file, bytes, { mode: 0o600 })
    return { ...page, file, bytes: bytes.length, within: undefined }
  }

  remove(): void {
    this.#folder?.remove()
    this.#folder = undefined
  }
}
