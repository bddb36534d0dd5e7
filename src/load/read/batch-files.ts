/** Holds temporary files that a batch needs while it loads, such as copies of pages that DuckDB cannot read directly. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pageName } from '../../lib/stored-page.ts'
import { makeScratch, type Scratch } from '../../temporary/scratch.ts'
import type { PageFile } from './pages.ts'

export class BatchFiles {
  readonly #beside: string
  #folder: Scratch | undefined

  constructor([first]: readonly PageFile[]) {
    // Outside the scan's folder, which other processes list.
    this.#beside = dirname(dirname(first?.file ?? ''))
  }

  /** Creates the folder on first use: most batches need none. */
  named(name: string): string {
    this.#folder ??= makeScratch(this.#beside)
    return join(this.#folder.path, name)
  }

  /** Writes these bytes as a copy of the page. Pages of different scans may have the same name. */
  copy(page: PageFile, bytes: Buffer): PageFile {
    const file = join(mkdtempSync(this.named('page-')), pageName(page))
    writeFileSync(file, bytes, { mode: 0o600 })
    return { ...page, file, bytes: bytes.length, within: undefined }
  }

  remove(): void {
    this.#folder?.remove()
    this.#folder = undefined
  }
}
