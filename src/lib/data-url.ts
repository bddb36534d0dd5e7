/** Files inside JSON: base64 data URLs, and what the service asks of the bytes in them. */
import { type FileType, fileTypeOf, fileTypes, largestFile } from './file-kind.ts'

const headPattern = /^data:([a-z]+\/[a-z0-9.+-]+);base64,$/i

export interface TypedBytes {
  readonly bytes: Buffer
  readonly type: FileType
}

export function toDataUrl({ bytes, type }: TypedBytes): string {
  return `data:${type};base64,${bytes.toString('base64')}`
}

/** The bytes and their type, or, as a text, what is wrong: spelling, declared type, size or signature. */
export function readDataUrl(content: string): TypedBytes | string {
  const comma = content.indexOf(',')
  const declared = headPattern.exec(content.slice(0, comma + 1))?.[1]?.toLowerCase()
  if (declared === undefined) return 'is not a data URL such as data:application/pdf;base64,...'
  const base64 = content.slice(comma + 1)
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    return 'is not base64 after its comma'
  return typedBytes(Buffer.from(base64, 'base64'), declared)
}

/** Checks type, size and signature of bytes that came under a declared type. */
export function typedBytes(bytes: Buffer, declared: string): TypedBytes | string {
  const type = fileTypes.find(known => known === declared)
  if (!type) return `is declared as none of ${fileTypes.join(', ')}`
  if (bytes.length > largestFile) return `has more than 20 MB (${largestFile} bytes)`
  return fileTypeOf(bytes) === type ? { bytes, type } : `does not begin as ${type} does`
}
