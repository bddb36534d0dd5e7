/** How much room a disk has left, and the reserve that is kept free on it. */
import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DiskFull } from '../lib/errors.ts'

/** The folder itself, or its nearest existing parent. */
export const nearestFolder = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder))

/** Bytes that this user may still write there. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(nearestFolder(folder))
  return bavail * bsize
}

export const inMegabytes = (bytes: number): string =>
  `${Math.floor(bytes / 1_048_576).toLocaleString('en')} MB`

/** Throws DiskFull where less than the reserve is free: a disk that is full to the last byte stops others as well. */
export function requireFree(folder: string, reserve: number): void {
  const free = freeBytes(folder)
  if (free >= reserve) return
  throw new DiskFull({
    what: `the disk is almost full: ${inMegabytes(free)} are free, and ${inMegabytes(reserve)} are to stay free`,
    where: folder,
    next: 'free some space and run the command again, or lower reserveMegabytes; what was committed is kept',
  })
}
