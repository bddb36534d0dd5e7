/** A landed page as a file, or as part of one. */
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

/** As the service sent them. */
export const pageBytes = ({ file, within }: StoredPage): Buffer =>
  within ? partOf(within) : readFileSync(file)

export const pageName = ({ file }: StoredPage): string => basename(file)
