/**
 * Keeps a landing in a bucket, which several machines may share. Copies pages to a local temporary folder for DuckDB to
 * read.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeScratch, type Scratch } from '../../temporary/scratch.ts'
import { archiveFolder, pageFolder } from '../layout.ts'
import type { LandingFile, LandingStore, PutOptions, StoredContent } from '../store.ts'
import type { Bucket } from './client.ts'

export class BucketStore implements LandingStore {
  readonly home: string
  readonly disk: string
  readonly #bucket: Bucket
  /** Personal data: removed even if this process is killed. */
  #copies: Scratch | undefined

  constructor(bucket: Bucket, home: string) {
    this.#bucket = bucket
    this.home = home
    this.disk = home
  }

  get where(): string {
    return this.#bucket.place.url
  }

  #key(key: string): string {
    return `${this.#bucket.place.prefix}${key}`
  }

  #copyOf(key: string): string {
    this.#copies ??= makeScratch(this.home)
    return join(this.#copies.path, key)
  }

  /** Keeps a local copy of a new page, as it is loaded next. */
  async put(key: string, content: Buffer, { over }: PutOptions = {}): Promise<boolean> {
    const isPut = await this.#bucket.put(this.#key(key), content, over)
    if (!isPut || !key.startsWith(pageFolder)) return isPut
    const copy = this.#copyOf(key)
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 })
    writeFileSync(copy, content, { mode: 0o600 })
    return true
  }

  get(key: string): Promise<StoredContent | undefined> {
    return this.#bucket.get(this.#key(key))
  }

  async list(prefix: string): Promise<LandingFile[]> {
    const found = await this.#bucket.list(this.#key(prefix))
    return found.map(({ key, bytes }) => ({ key: key.slice(this.#bucket.place.prefix.length), bytes }))
  }

  async delete(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return
    await this.#bucket.remove(keys.map(key => this.#key(key)))
    if (this.#copies) for (const key of keys) rmSync(this.#copyOf(key), { force: true })
  }

  async fetch(key: string): Promise<string | undefined> {
    const copy = this.#copyOf(key)
    if (existsSync(copy)) return copy
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 })
    return (await this.#bucket.download(this.#key(key), copy)) ? copy : undefined
  }

  release(scan: string): void {
    if (!this.#copies) return
    for (const folder of [pageFolder, archiveFolder])
      rmSync(this.#copyOf(`${folder}${scan}`), { recursive: true, force: true })
  }

  close(): void {
    this.#copies?.remove()
    this.#copies = undefined
    this.#bucket.close()
  }
}
