/** Checks whether pages can be landed, in a folder or a bucket, and whether the stored data is encrypted. */
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BucketSettings } from '../../config/bucket.ts'
import type { Connection, StoredConnection } from '../../config/connection.ts'
import { nearestFolder } from '../../temporary/free-space.ts'
import { requireBucket, shownLanding } from '../connection/storage.ts'
import { lakeAddresses, tryLakes } from '../lake.ts'
import { type CheckupFinding, fail, failed, ok } from './finding.ts'

function landingFolder(folder: string): CheckupFinding {
  const nearest = nearestFolder(folder)
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK)
  } catch {
    // EACCES or EROFS: this user may not write the folder.
    return fail(
      'landing',
      `${nearest} cannot be written`,
      'check its owner and permissions, or set landing to another folder',
    )
  }
  return ok('landing', nearest === folder ? folder : `${folder} will be created`)
}

/** Puts an object into a bucket, reads it, lists it, and removes it. */
export async function landing(
  connection: Pick<Connection, 'landing' | 'bucket'>,
  signal: AbortSignal,
): Promise<CheckupFinding> {
  if (!connection.bucket) return landingFolder(connection.landing)
  try {
    await requireBucket(connection, signal)
    return ok('landing', `${shownLanding(connection)} can be written, read and listed`)
  } catch (error) {
    return failed('landing', error)
  }
}

/** Puts, reads, lists and removes an object of each lake, and tries whether two writers are kept apart; none without a lake. */
export async function lake(connection: StoredConnection, signal: AbortSignal): Promise<CheckupFinding[]> {
  if (!connection.lake) return []
  try {
    await tryLakes(connection, signal)
    return [ok('lake', `${lakeAddresses(connection).join(' and ')} can be written, and keeps writers apart`)]
  } catch (error) {
    return [failed('lake', error)]
  }
}

/** Whether a Linux device, or one below it, is encrypted: ids of dm-crypt, which LUKS uses, begin with CRYPT. */
function isCrypt(device: string): boolean {
  const id = join(device, 'dm', 'uuid')
  if (existsSync(id) && readFileSync(id, 'utf8').startsWith('CRYPT-')) return true
  const below = join(device, 'slaves')
  return existsSync(below) && readdirSync(below).some(name => isCrypt(join(below, name)))
}

/** Major and minor number of a device, as Linux packs them. */
const numbersOf = (dev: number): string =>
  `${Math.floor(dev / 256) % 4096}:${(dev % 256) + Math.floor(dev / 1_048_576) * 256}`

/** Whether the folder is known to be on an encrypted disk; `devices` is where Linux lists them. */
export function isOnEncryptedDisk(folder: string, devices = '/sys/dev/block'): boolean {
  const device = join(devices, numbersOf(statSync(nearestFolder(folder)).dev))
  return existsSync(device) && isCrypt(device)
}

type StorageSettings = Pick<Connection, 'warehouse' | 'landing' | 'bucket'>

const unknown = 'not known to be encrypted'

const pagesInBucket = ({ kmsKey }: BucketSettings): string =>
  kmsKey === undefined ? 'as their bucket is set up' : `by their bucket, with the key ${kmsKey}`

/** `devices` is where Linux lists its disks. */
export function encryption(
  { warehouse, landing, bucket }: StorageSettings,
  devices?: string,
): CheckupFinding {
  const byDisk = (folder: string): string => (isOnEncryptedDisk(folder, devices) ? 'by its disk' : unknown)
  const rows =
    warehouse.kind === 'file' ? byDisk(dirname(warehouse.file)) : 'by the disk of the server, if at all'
  const pages = bucket ? pagesInBucket(bucket) : byDisk(landing)
  const found = ok('encryption', `warehouse: ${rows}; landed pages: ${pages}`)
  if (rows !== unknown && pages !== unknown) return found
  return { ...found, advice: 'if the data requires it, keep it on an encrypted disk' }
}
