/** A landed page as a file, or as part of one, which may be encrypted. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { basename } from 'node:path'

export interface FilePart {
  readonly file: string
  readonly start: number
  readonly bytes: number
}

export interface StoredPage {
  /** Tells its name and its place. Nothing lies there where the page is part of another file. */
  readonly file: string
  /** The file that it is part of, as all pages of an unpacked archive are of one. */
  readonly within?: FilePart | undefined
  /** Only of an encrypted file. Throws SyntaxError for bytes that are not as they were written. */
  readonly decrypt?: ((bytes: Buffer) => Buffer) | undefined
}

export const encryptedEnd = '.enc'

function partOf({ file, start, bytes }: FilePart): Buffer {
  const part = Buffer.allocUnsafeSlow(bytes)
  const opened = openSync(file, 'r')
  try {
    return part.subarray(0, readSync(opened, part, 0, bytes, start))
  } finally {
    closeSync(opened)
  }
}

/** As the service sent them. */
export function pageBytes({ file, within, decrypt }: StoredPage): Buffer {
  const bytes = within ? partOf(within) : readFileSync(file)
  return decrypt ? decrypt(bytes) : bytes
}

/** The same for a page whether it is encrypted or not. */
export const pageName = ({ file }: StoredPage): string => basename(file, encryptedEnd)
