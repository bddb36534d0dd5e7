/** A landing in a bucket, which several machines may share. Pages are copied to a temporary folder here, for DuckDB to read. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Busy } from '../../lib/errors.ts'
import { makeScratch, type Scratch } from '../../temporary/scratch.ts'
import { edgesOf } from '../edges.ts'
import type { FileSum, Journal } from '../journal.ts'
import { isPacked, manifestName } from '../manifest.ts'
import { factsName, isPageName } from '../scan-facts.ts'
import type { Edges, LandingStore, Stored } from '../store.ts'
import type { Bucket, Precondition, StoredObject } from './client.ts'
import { noteGoneIn, noteIn, sumsIn } from './journal.ts'
import { tryBucket } from './try.ts'

/** Downloads and uploads under way together: more gain nothing, and each may hold a page in memory. */
const atOnce = 8

async function together<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  const one = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

/** Those that tell of pages may be of another process by now. */
const isPages = (name: string): boolean => isPacked(name) || isPageName(basename(name))

export class BucketStore implements LandingStore {
  readonly home: string
  readonly #bucket: Bucket
  #copies: Scratch | undefined

  constructor(bucket: Bucket, home: string) {
    this.#bucket = bucket
    this.home = home
  }

  get where(): string {
    return this.#bucket.place.url
  }

  /** Personal data, which is removed whatever becomes of this process. */
  get root(): string {
    this.#copies ??= makeScratch(this.home)
    return this.#copies.path
  }

  #key(name: string): string {
    return `${this.#bucket.place.prefix}${name}`
  }

  tryOut(): Promise<void> {
    return tryBucket(this.#bucket)
  }

  async folders(): Promise<string[]> {
    const { prefix } = this.#bucket.place
    const { folders } = await this.#bucket.list(prefix, '/')
    return folders.map(name => name.slice(prefix.length, -1))
  }

  async #objects(folder: string): Promise<readonly StoredObject[]> {
    return (await this.#bucket.list(this.#key(`${folder}/`), '/')).objects
  }

  #nameOf(folder: string, { key }: StoredObject): string {
    return key.slice(this.#key(`${folder}/`).length)
  }

  async list(folder: string): Promise<Stored[]> {
    const objects = await this.#objects(folder)
    const files = objects.map(object => ({ name: this.#nameOf(folder, object), bytes: object.bytes }))
    return files.filter(({ name }) => name !== '')
  }

  has(name: string): Promise<boolean> {
    return this.#bucket.has(this.#key(name))
  }

  /** Of a file that was brought here, which is not asked for twice. */
  #copyOf(name: string): string | undefined {
    const file = this.#copies && isPages(name) ? join(this.#copies.path, name) : undefined
    return file !== undefined && existsSync(file) ? file : undefined
  }

  async read(name: string): Promise<Buffer | undefined> {
    const copy = this.#copyOf(name)
    return copy === undefined ? this.#bucket.get(this.#key(name)) : readFileSync(copy)
  }

  async edges(name: string, length: number): Promise<Edges> {
    const copy = this.#copyOf(name)
    if (copy !== undefined) return edgesOf(copy, length)
    const range = async (text: string): Promise<string> =>
      (await this.#bucket.get(this.#key(name), `bytes=${text}`))?.toString('latin1') ?? ''
    return { start: await range(`0-${length - 1}`), end: await range(`-${length}`) }
  }

  /** Files that went meanwhile are not there afterwards. */
  async bring(folder: string, files: readonly Stored[]): Promise<void> {
    const local = join(this.root, folder)
    mkdirSync(local, { recursive: true, mode: 0o700 })
    await together(files, async ({ name, bytes }) => {
      const file = join(local, name)
      if (existsSync(file) && statSync(file).size === bytes) return
      await this.#bucket.download(this.#key(`${folder}/${name}`), file)
    })
  }

  async begin(): Promise<void> {}

  async put(name: string, bytes: Buffer): Promise<void> {
    await this.#bucket.put(this.#key(name), bytes)
    const file = join(this.root, name)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(file, bytes, { mode: 0o600 })
  }

  replace(name: string, bytes: Buffer): Promise<void> {
    return this.put(name, bytes)
  }

  unique(): string {
    return `-${randomBytes(4).toString('hex')}`
  }

  /**
   * An archive is there when its manifest is, which is put last, and only if nobody else has put one meanwhile: until then the
   * files of the archive before it are as they were. Its facts stay, as they never change, and have its age.
   */
  async putFolder(folder: string, part: string, keepsAge = false): Promise<void> {
    const before = await this.#objects(folder)
    const old = new Map(before.map(object => [this.#nameOf(folder, object), object]))
    const names = readdirSync(part).filter(name => name !== manifestName)
    const isLeft = (name: string): boolean => keepsAge && !isPacked(name) && old.has(name)
    const put = (name: string, only?: Precondition): Promise<boolean> =>
      this.#bucket.put(this.#key(`${folder}/${name}`), readFileSync(join(part, name)), only)
    await together(
      names.filter(name => !isLeft(name)),
      async name => {
        await put(name)
      },
    )
    const etag = old.get(manifestName)?.etag
    if (!(await put(manifestName, etag === undefined ? { isNew: true } : { etag }))) {
      await this.#bucket.remove(names.filter(isPacked).map(name => this.#key(`${folder}/${name}`)))
      throw new Busy({
        what: 'another process has archived the same pages meanwhile',
        where: this.where,
        next: 'nothing is lost; run again',
      })
    }
    const left = [...old.values()].filter(object => isPacked(this.#nameOf(folder, object)))
    await this.#bucket.remove(left.map(({ key }) => key))
  }

  /** A scan's facts are put once; an archive of before them has files. */
  async writtenAt(folder: string): Promise<number> {
    const objects = await this.#objects(folder)
    const facts = objects.find(object => this.#nameOf(folder, object) === factsName)
    return facts?.writtenAt ?? Math.max(0, ...objects.map(({ writtenAt }) => writtenAt))
  }

  /** The facts of a scan go first: without them what a process leaves that is killed in between is no scan any more. */
  async remove(name: string): Promise<void> {
    if (name.includes('/')) {
      await this.#bucket.remove([this.#key(name)])
      rmSync(join(this.root, name), { force: true })
      return
    }
    const { objects } = await this.#bucket.list(this.#key(`${name}/`))
    const keys = objects.map(({ key }) => key)
    const facts = keys.filter(key => key === this.#key(`${name}/${factsName}`))
    await this.#bucket.remove(facts)
    await this.#bucket.remove(keys.filter(key => !facts.includes(key)))
    this.release(name)
  }

  sums(journal: string): Promise<Journal | undefined> {
    return sumsIn(this.#bucket, this.#key(journal))
  }

  note(journal: string, sum: FileSum): Promise<void> {
    return noteIn(this.#bucket, this.#key(journal), sum)
  }

  noteGone(journal: string, name: string): Promise<void> {
    return noteGoneIn(this.#bucket, this.#key(journal), name)
  }

  release(folder: string): void {
    if (this.#copies) rmSync(join(this.#copies.path, folder), { recursive: true, force: true })
  }

  close(): void {
    this.#copies?.remove()
    this.#copies = undefined
    this.#bucket.close()
  }
}
