/** Reads files that a JSON row names by `path`, relative to the input file, and turns them into data URLs. */
import { basename, resolve } from 'node:path'
import { fileTypeOf, fileTypes, largestFile, toDataUrl, typedBytes } from '../../lib/file-kind.ts'
import { readInput } from '../../lib/input-file.ts'
import { fieldPath } from '../../lib/text/field-path.ts'

export interface FileProblem {
  readonly field: string
  readonly what: string
}

export interface ResolvedValue {
  readonly value: unknown
  readonly problems: readonly FileProblem[]
}

type InputFields = Record<string, unknown>

export interface FileAccess {
  /** Folder of the input file. */
  readonly folder: string
  /** Whether files outside of the folder may be read. */
  readonly allowOutside: boolean
}

/** Returns the row with `content` instead of each `path`. */
export function withLocalFiles(value: unknown, surroundings: FileAccess): ResolvedValue {
  if (!isFields(value)) return { value, problems: [] }
  const problems: FileProblem[] = []
  const resolved: InputFields = { ...value }
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

function readLocal(
  { path, ...file }: InputFields,
  { folder, allowOutside }: FileAccess,
): InputFields | string {
  if (typeof path !== 'string' || path === '') return 'is not a file name'
  const read = readDeclarable(resolve(folder, path), allowOutside ? undefined : folder)
  if (typeof read === 'string') return read
  return { fileName: basename(path), ...file, content: toDataUrl(read) }
}

/** The bytes and their type, or why the service would reject them. With `inside`, only a file of that folder. */
export function readDeclarable(file: string, inside?: string) {
  const bytes = readInput(file, { maxBytes: largestFile, ...(inside !== undefined && { inside }) })
  if (!Buffer.isBuffer(bytes))
    return inside !== undefined && /outside/.test(bytes.why)
      ? `${bytes.why}: --allow-outside reads it`
      : bytes.why
  if (bytes.length === 0) return 'is an empty file'
  const type = fileTypeOf(bytes)
  return type ? typedBytes(bytes, type) : `is not one of ${fileTypes.join(', ')}, judging by its first bytes`
}

function isFields(value: unknown): value is InputFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
