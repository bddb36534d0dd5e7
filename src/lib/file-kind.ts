/** The kinds of file the service takes, told by their first bytes. */

export const fileTypes = ['application/pdf', 'image/jpeg', 'image/png'] as const
export type FileType = (typeof fileTypes)[number]

/** Bytes of one file. */
export const largestFile = 20 * 1024 * 1024
/** Bytes of a JSON body that creates or updates a worker. */
export const largestBody = 50 * 1024 * 1024
/** Characters of a file name, its extension included. */
const longestFileName = 255

const signatures: readonly (readonly [FileType, Buffer])[] = [
  ['application/pdf', Buffer.from('%PDF-')],
  ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff])],
  ['image/png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])],
]

/** Undefined for anything but the three kinds. */
export function fileTypeOf(bytes: Uint8Array): FileType | undefined {
  return signatures.find(([, signature]) => signature.equals(bytes.subarray(0, signature.length)))?.[0]
}

/** 1 to 255 characters with an extension, and no path. */
export function isFileName(name: string): boolean {
  return name.length <= longestFileName && /^[^/\\\p{Cc}]*[^/\\.\p{Cc}]\.[A-Za-z0-9]{1,10}$/u.test(name)
}
