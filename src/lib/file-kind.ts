/** Checks files that the service accepts: kind by the first bytes, size limits, and base64 data URLs. */

export const fileTypes = ['application/pdf', 'image/jpeg', 'image/png'] as const
export type FileType = (typeof fileTypes)[number]

/** Max bytes of one file. */
export const largestFile = 20 * 1024 * 1024
/** Max bytes of a JSON body that creates or updates a worker. */
export const largestBody = 50 * 1024 * 1024
/** Max characters of a file name with its extension. */
const longestFileName = 255

const signatures: readonly (readonly [FileType, Buffer])[] = [
  ['application/pdf', Buffer.from('%PDF-')],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff])],
  ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
]

/** Undefined for any other kind than the three accepted ones. */
export function fileTypeOf(bytes: Uint8Array): FileType | undefined {
  return signatures.find(([, signature]) => signature.equals(bytes.subarray(0, signature.length)))?.[0]
}

/** Whether a name has 1 to 255 characters with an extension, and no path. */
export function isFileName(name: string): boolean {
  return name.length <= longestFileName && /^[^/\\\p{Cc}]*[^/\\.\p{Cc}]\.[A-Za-z0-9]{1,10}$/u.test(name)
}

const headPattern = /^data:([a-z]+\/[a-z0-9.+-]+);base64,$/i

export interface TypedBytes {
  readonly bytes: Buffer
  readonly type: FileType
}

export function toDataUrl({ bytes, type }: TypedBytes): string {
  return `data:${type};base64,${bytes.toString('base64')}`
}

/**
 * Decodes base64; undefined for other text. Node skips invalid characters, which leaves too few bytes, but also accepts the
 * two extra characters of base64url. Uses no regular expression: once a process has compiled 1 MB of them, V8 keeps a
 * backtracking position per character, and fails at 16 million.
 */
function bytesOf(base64: string): Buffer | undefined {
  if (base64 === '' || base64.length % 4 !== 0 || base64.includes('-') || base64.includes('_'))
    return undefined
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  const bytes = Buffer.from(base64, 'base64')
  return bytes.length === (base64.length / 4) * 3 - padding ? bytes : undefined
}

/** Returns the bytes and their type, or what is wrong with them. */
export function readDataUrl(content: string): TypedBytes | string {
  const comma = content.indexOf(',')
  const declared = headPattern.exec(content.slice(0, comma + 1))?.[1]?.toLowerCase()
  if (declared === undefined) return 'is not a data URL such as data:application/pdf;base64,...'
  const bytes = bytesOf(content.slice(comma + 1))
  return bytes ? typedBytes(bytes, declared) : 'is not base64 after its comma'
}

/** Checks the size and the first bytes of a file with a declared type. */
export function typedBytes(bytes: Buffer, declared: string): TypedBytes | string {
  const type = fileTypes.find(known => known === declared)
  if (!type) return `is declared as none of ${fileTypes.join(', ')}`
  if (bytes.length > largestFile) return `has more than 20 MB (${largestFile} bytes)`
  return fileTypeOf(bytes) === type ? { bytes, type } : `does not begin as ${type} does`
}
