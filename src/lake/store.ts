/** Stores the files of a lake in a folder or a bucket. A commit is a file that only one writer can create. */
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { Bucket } from '../landing/bucket/client.ts'
import type { BucketPlace, LandingFile } from '../landing/store.ts'
import { ConfigError, MusterError } from '../lib/errors.ts'
import { syncToDisk } from '../temporary/output-file.ts'
import { makeScratch, type Scratch } from '../temporary/scratch.ts'

/** Where a lake is; of a bucket, `folder` holds temporary files. */
export interface LakePlace {
  readonly folder: string
  readonly bucket?: BucketPlace | undefined
  /** Whether only its owner may read the folder. */
  readonly isPrivate?: boolean
}

export interface LakeStore {
  /** The name shown in messages. */
  readonly where: string
  /** A local folder for files that are not stored yet, or were fetched. */
  readonly scratch: string
  /** Returns false when a file with this key exists, which stays as it is. */
  create(key: string, content: Buffer): Promise<boolean>
  /** Replaces the file as a whole. */
  put(key: string, content: Buffer): Promise<void>
  /** Stores a file of the scratch folder, which may move. */
  upload(key: string, file: string): Promise<void>
  /** Undefined when it does not exist. */
  get(key: string): Promise<Buffer | undefined>
  /** A local file with the content; undefined when it does not exist. */
  fetch(key: string): Promise<string | undefined>
  /** Files whose keys begin with the prefix, which ends with a slash, in the order of their keys. */
  list(prefix: string): Promise<LandingFile[]>
  /** Ignores keys that do not exist. */
  delete(keys: readonly string[]): Promise<void>
  close(): void
}

const inOrder = (files: LandingFile[]): LandingFile[] => files.sort((a, b) => (a.key < b.key ? -1 : 1))

export function openLake(place: LakePlace, signal?: AbortSignal): LakeStore {
  return place.bucket ? inBucket(place.bucket, place.folder, signal) : inFolder(place)
}

function inFolder({ folder, isPrivate = false }: LakePlace): LakeStore {
  let drafts: Scratch | undefined
  const scratch = (): string => {
    mkdirSync(folder, { recursive: true, mode: isPrivate ? 0o700 : 0o755 })
    drafts ??= makeScratch(folder)
    return drafts.path
  }
  const path = (key: string): string => join(folder, key)
  const prepared = (key: string): string => {
    mkdirSync(dirname(path(key)), { recursive: true })
    return path(key)
  }
  const draftOf = async (content: Buffer): Promise<string> => {
    const draft = join(scratch(), randomBytes(8).toString('hex'))
    await writeFile(draft, content, { flush: true })
    return draft
  }
  return {
    where: folder,
    get scratch() {
      return scratch()
    },
    async create(key, content) {
      const draft = await draftOf(content)
      try {
        // A link appears at once, with all of its content, and never replaces a file.
        linkSync(draft, prepared(key))
        syncToDisk(dirname(path(key)))
        return true
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
        throw error
      } finally {
        rmSync(draft, { force: true })
      }
    },
    async put(key, content) {
      await rename(await draftOf(content), prepared(key))
      syncToDisk(dirname(path(key)))
    },
    async upload(key, file) {
      syncToDisk(file)
      await rename(file, prepared(key))
      syncToDisk(dirname(path(key)))
    },
    get: async key => (existsSync(path(key)) ? readFileSync(path(key)) : undefined),
    fetch: async key => (existsSync(path(key)) ? path(key) : undefined),
    list: async prefix => inOrder(filesBelow(folder, prefix)),
    async delete(keys) {
      for (const key of keys) rmSync(path(key), { force: true })
    },
    close: () => drafts?.remove(),
  }
}

/** Without temporary files, whose folders begin with a dot. */
function filesBelow(folder: string, prefix: string): LandingFile[] {
  const home = join(folder, prefix)
  if (!existsSync(home)) return []
  return readdirSync(home, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && !relative(home, entry.parentPath).startsWith('.muster-'))
    .map(entry => {
      const file = join(entry.parentPath, entry.name)
      return { key: relative(folder, file).replaceAll('\\', '/'), bytes: statSync(file).size }
    })
}

function inBucket(place: BucketPlace, home: string, signal?: AbortSignal): LakeStore {
  const bucket = new Bucket(place, signal)
  let drafts: Scratch | undefined
  const scratch = (): string => {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    drafts ??= makeScratch(home)
    return drafts.path
  }
  const full = (key: string): string => `${place.prefix}${key}`
  return {
    where: place.url,
    get scratch() {
      return scratch()
    },
    create: (key, content) => bucket.create(full(key), content),
    async put(key, content) {
      await bucket.put(full(key), content)
    },
    async upload(key, file) {
      await bucket.put(full(key), await readFile(file))
      rmSync(file)
    },
    get: async key => (await bucket.get(full(key)))?.content,
    async fetch(key) {
      const file = join(scratch(), `${randomBytes(8).toString('hex')}-${basename(key)}`)
      return (await bucket.download(full(key), file)) ? file : undefined
    },
    async list(prefix) {
      const found = await bucket.list(full(prefix))
      return inOrder(found.map(({ key, bytes }) => ({ key: key.slice(place.prefix.length), bytes })))
    },
    delete: keys => bucket.remove(keys.map(full)),
    close() {
      drafts?.remove()
      bucket.close()
    },
  }
}

/** Throws unless a file can be written, read, listed and removed, and a second writer cannot create it again. */
export async function tryLake(store: LakeStore): Promise<void> {
  const prefix = `_muster/try-${randomBytes(6).toString('hex')}/`
  const key = `${prefix}try`
  try {
    const isFirst = await store.create(key, Buffer.from('first'))
    const isSecond = await store.create(key, Buffer.from('second'))
    const [listed, got] = [await store.list(prefix), await store.get(key)]
    if (isFirst && !isSecond && listed.length === 1 && got?.toString() === 'first') return
  } catch (cause) {
    if (!(cause instanceof MusterError) || !/501/.test(cause.report.what)) throw cause
  } finally {
    await store.delete([key])
  }
  throw new ConfigError({
    what: 'the lake cannot keep two writers apart: its bucket ignores If-None-Match',
    where: store.where,
    next: 'use a bucket that has conditional writes, as AWS S3 has, or a folder; nothing was written',
  })
}
