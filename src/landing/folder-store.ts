/** Keeps a landing in a folder on this machine. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { regularFile } from '../lib/input-file.ts'
import { makeScratch, type Scratch } from '../temporary/scratch.ts'
import { isRefused } from './damage.ts'
import { pageFolder } from './layout.ts'
import type { LandingFile, LandingStore, PutOptions, StoredContent } from './store.ts'

export class FolderStore implements LandingStore {
  readonly where: string
  readonly disk: string
  readonly home: string
  /** Files are written here first. The next command removes what a killed process left behind. */
  #drafts: Scratch | undefined
  #puts = 0

  constructor(root: string) {
    this.where = root
    this.disk = root
    this.home = dirname(root)
  }

  #path(key: string): string {
    return join(this.disk, key)
  }

  async put(key: string, content: Buffer, { over, isLasting = false }: PutOptions = {}): Promise<boolean> {
    if (!this.#drafts) {
      mkdirSync(this.disk, { recursive: true, mode: 0o700 })
      this.#drafts = makeScratch(this.disk)
    }
    this.#puts += 1
    const draft = join(this.#drafts.path, String(this.#puts))
    const path = this.#path(key)
    try {
      // Flush what replaces pages, as these are deleted next. A lost page can be fetched again.
      const flush = isLasting || over !== undefined || !key.startsWith(pageFolder)
      await writeFile(draft, content, { mode: 0o600, flush })
      if (over && !(await this.get(key))?.content.equals(over.content)) {
        rmSync(draft, { force: true })
        return false
      }
      // Made after the draft, so that a landing removed in between is not recreated.
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      await rename(draft, path)
      return true
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  }

  async get(key: string): Promise<StoredContent | undefined> {
    const path = this.#path(key)
    return regularFile(path) ? { content: readFileSync(path), version: undefined } : undefined
  }

  async list(prefix: string): Promise<LandingFile[]> {
    return this.#filesIn(prefix.slice(0, -1))
  }

  /** Skips subfolders that may not be read: reading one of their files reports why. */
  #filesIn(folder: string): LandingFile[] {
    const found: LandingFile[] = []
    for (const entry of this.#entries(folder)) {
      const key = `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        try {
          found.push(...this.#filesIn(key))
        } catch (error) {
          if (!isRefused(error)) throw error
        }
      } else {
        const file = regularFile(this.#path(key))
        if (file) found.push({ key, bytes: file.size })
      }
    }
    return found
  }

  #entries(folder: string) {
    try {
      const entries = readdirSync(this.#path(folder), { withFileTypes: true })
      return entries.sort((one, other) => (one.name < other.name ? -1 : 1))
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return []
      throw error
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) rmSync(this.#path(key), { recursive: true, force: true })
    for (const folder of new Set(keys.map(dirname)))
      try {
        rmdirSync(this.#path(folder))
      } catch (error) {
        if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code)))
          throw error
      }
  }

  async fetch(key: string): Promise<string | undefined> {
    return regularFile(this.#path(key)) ? this.#path(key) : undefined
  }

  release(): void {}

  close(): void {
    this.#drafts?.remove()
    this.#drafts = undefined
  }
}
