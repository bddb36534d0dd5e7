/** Reads a landed page, stored as a file or as part of one. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { basename } from 'node:path'

export interface FilePart {
  readonly file: string
  readonly start: number
  readonly bytes: number
}

export interface StoredPage {
  /** Path that identifies the page. It does not exist if the page is part of another file. */
  readonly file: string
  /** The file that contains it: all pages of an unpacked archive are in one file. */
  readonly within?: FilePart | undefined
}

function partOf({ file, start, bytes }: FilePart): Buffer {
  const part = Buffer.allocUnsafeSlow(bytes)
  const opened = openSync(file, 'r')
  try {
    return part.subarray(0, readSync(opened, part, 0, bytes, start))
  } finally {
    closeSync(opened)
  }
}

/** Returns the bytes as the service sent them. */
export const pageBytes = ({ file, within }: StoredPage): Buffer =>
  within ? partOf(within) : readFileSync(file)

export const pageName = ({ file }: StoredPage): string => basename(file)
