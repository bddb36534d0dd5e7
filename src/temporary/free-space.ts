/** Measures the free space of a disk, and keeps a reserve of it free. */
import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DiskFull } from '../lib/errors.ts'

/** Returns the folder itself, or its nearest existing parent. */
export const nearestFolder = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder))

/** Bytes that this user can still write there. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(nearestFolder(folder))
  return bavail * bsize
}

export const inMegabytes = (bytes: number): string =>
  `${Math.floor(bytes / 1_048_576).toLocaleString('en')} MB`

/** Throws DiskFull if less than the reserve is free: a completely full disk stops other programs too. */
export function requireFree(folder: string, reserve: number): void {
  const free = freeBytes(folder)
  if (free >= reserve) return
  throw new DiskFull({
    what: `the disk is almost full: ${inMegabytes(free)} are free, and ${inMegabytes(reserve)} must stay free`,
    where: folder,
    next: 'free some space and run the command again, or lower reserveMegabytes; what was committed is kept',
  })
}
