/** A landing in a folder of this machine. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { regularFile } from '../lib/input-file.ts'
import { makeScratch, replaceFolder } from '../temporary/scratch.ts'
import { edgesOf } from './edges.ts'
import { type FileSum, type Journal, readJournal, writeGone, writeSum } from './journal.ts'
import type { Edges, LandingStore, Stored } from './store.ts'

const partEnd = '.part'

export class FolderStore implements LandingStore {
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  get where(): string {
    return this.root
  }

  get home(): string {
    return dirname(this.root)
  }

  #path(name: string): string {
    return join(this.root, name)
  }

  async tryOut(): Promise<void> {}

  async folders(): Promise<string[]> {
    if (!existsSync(this.root)) return []
    const entries = readdirSync(this.root, { withFileTypes: true })
    // Scratch folders begin with a dot.
    return entries.flatMap(entry => (entry.isDirectory() && !entry.name.startsWith('.') ? entry.name : []))
  }

  async list(folder: string): Promise<Stored[]> {
    const path = this.#path(folder)
    if (!existsSync(path)) return []
    const names = readdirSync(path).sort()
    return names.flatMap(name => {
      const file = regularFile(join(path, name))
      return file ? [{ name, bytes: file.size }] : []
    })
  }

  async has(name: string): Promise<boolean> {
    return existsSync(this.#path(name))
  }

  async read(name: string): Promise<Buffer | undefined> {
    return regularFile(this.#path(name)) ? readFileSync(this.#path(name)) : undefined
  }

  async edges(name: string, length: number): Promise<Edges> {
    return edgesOf(this.#path(name), length)
  }

  async bring(): Promise<void> {}

  /** Half-written pages of a process that was killed go. */
  async begin(folder: string): Promise<void> {
    const path = this.#path(folder)
    mkdirSync(path, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(path).filter(name => name.endsWith(partEnd)))
      rmSync(join(path, name), { force: true })
  }

  async put(name: string, bytes: Buffer): Promise<void> {
    const file = this.#path(name)
    try {
      await writeFile(`${file}${partEnd}`, bytes, { mode: 0o600 })
      await rename(`${file}${partEnd}`, file)
    } catch (error) {
      await rm(`${file}${partEnd}`, { force: true })
      throw error
    }
  }

  async replace(name: string, bytes: Buffer): Promise<void> {
    const scratch = makeScratch(this.root)
    try {
      const draft = join(scratch.path, basename(name))
      writeFileSync(draft, bytes, { mode: 0o600, flush: true })
      renameSync(draft, this.#path(name))
    } finally {
      scratch.remove()
    }
  }

  unique(): string {
    return ''
  }

  async putFolder(folder: string, part: string, keepsAge = false): Promise<void> {
    const path = this.#path(folder)
    if (keepsAge) {
      const { atime, mtime } = statSync(path)
      utimesSync(part, atime, mtime)
    }
    replaceFolder(part, path)
  }

  async writtenAt(folder: string): Promise<number> {
    return statSync(this.#path(folder)).mtimeMs
  }

  async remove(name: string): Promise<void> {
    rmSync(this.#path(name), { recursive: true, force: true })
  }

  async sums(journal: string): Promise<Journal | undefined> {
    return readJournal(this.#path(journal))
  }

  async note(journal: string, sum: FileSum): Promise<void> {
    writeSum(this.#path(journal), sum)
  }

  async noteGone(journal: string, name: string): Promise<void> {
    writeGone(this.#path(journal), name)
  }

  release(): void {}

  close(): void {}
}
