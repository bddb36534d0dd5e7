/** A landed page as a file, which may be encrypted. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

export interface StoredPage {
  readonly file: string
  /** Only of an encrypted file. Throws SyntaxError for bytes that are not as they were written. */
  readonly decrypt?: ((bytes: Buffer) => Buffer) | undefined
}

export const encryptedEnd = '.enc'

/** As the service sent them. */
export function pageBytes({ file, decrypt }: StoredPage): Buffer {
  const bytes = readFileSync(file)
  return decrypt ? decrypt(bytes) : bytes
}

/** The same for a page whether it is encrypted or not. */
export const pageName = ({ file }: StoredPage): string => basename(file, encryptedEnd)
