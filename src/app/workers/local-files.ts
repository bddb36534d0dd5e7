/** Files that a JSON row names by `path`: read relative to the input file, checked, and turned into data URLs. */
import { basename, resolve } from 'node:path'
import { fieldPath } from '../../lib/field-path.ts'
import { fileTypeOf, fileTypes, largestFile, toDataUrl, typedBytes } from '../../lib/file-kind.ts'
import { readInput } from '../../lib/input-file.ts'

export interface FileProblem {
  readonly field: string
  readonly what: string
}

export interface Resolved {
  readonly value: unknown
  readonly problems: readonly FileProblem[]
}

type Fields = Record<string, unknown>

export interface Surroundings {
  /** Of the input file. */
  readonly folder: string
  /** Whether files outside of the folder may be read. */
  readonly allowOutside: boolean
}

/** The same row with `content` in place of each `path`. */
export function withLocalFiles(value: unknown, surroundings: Surroundings): Resolved {
  if (!isFields(value)) return { value, problems: [] }
  const problems: FileProblem[] = []
  const resolved: Fields = { ...value }
  for (const collection of ['attachments', 'rightToWork']) {
    const documents = value[collection]
    if (!Array.isArray(documents)) continue
    resolved[collection] = documents.map((document, index) => {
      if (!isFields(document) || !Array.isArray(document.files)) return document
      const files = document.files.map((file, place) => {
        if (!isFields(file) || file.path === undefined) return file
        const read = readLocal(file, surroundings)
        if (typeof read !== 'string') return read
        problems.push({ field: fieldPath([collection, index, 'files', place, 'path']), what: read })
        return unread
      })
      return { ...document, files }
    })
  }
  return { value: resolved, problems }
}

/** Stands in for a file that could not be read, so that its mistake is reported once; the row is never sent. */
const unread = { fileName: 'unread.pdf', uploadToken: 'unread' }

function readLocal({ path, ...file }: Fields, { folder, allowOutside }: Surroundings): Fields | string {
  if (typeof path !== 'string' || path === '') return 'is not a file name'
  const read = readDeclarable(resolve(folder, path), allowOutside ? undefined : folder)
  if (typeof read === 'string') return read
  return { fileName: basename(path), ...file, content: toDataUrl(read) }
}

/** The bytes and their type, or the reason why the service would refuse them. With `inside`, only a file of that folder. */
export function readDeclarable(file: string, inside?: string) {
  const bytes = readInput(file, { mostBytes: largestFile, ...(inside !== undefined && { inside }) })
  if (!Buffer.isBuffer(bytes))
    return inside !== undefined && /outside/.test(bytes.why)
      ? `${bytes.why}: --allow-outside reads it`
      : bytes.why
  if (bytes.length === 0) return 'is an empty file'
  const type = fileTypeOf(bytes)
  return type ? typedBytes(bytes, type) : `is none of ${fileTypes.join(', ')} by its first bytes`
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
