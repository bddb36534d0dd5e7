/** Whether what is stored is encrypted: by its disk, or by its bucket. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Connection } from '../../config/connection.ts'
import type { BucketSettings } from '../../config/groups/bucket.ts'
import { nearestFolder } from '../../temporary/free-space.ts'
import { type Finding, ok } from './finding.ts'

/** Of a device of Linux or of one that it lies on; dm-crypt, which LUKS uses, begins its ids so. */
function isCrypt(device: string): boolean {
  const id = join(device, 'dm', 'uuid')
  if (existsSync(id) && readFileSync(id, 'utf8').startsWith('CRYPT-')) return true
  const below = join(device, 'slaves')
  return existsSync(below) && readdirSync(below).some(name => isCrypt(join(below, name)))
}

/** The numbers of a device as Linux packs them. */
const numbersOf = (dev: number): string =>
  `${Math.floor(dev / 256) % 4096}:${(dev % 256) + Math.floor(dev / 1_048_576) * 256}`

/** Whether the folder is known to be on an encrypted disk; `devices` is where Linux lists them. */
export function isOnEncryptedDisk(folder: string, devices = '/sys/dev/block'): boolean {
  const device = join(devices, numbersOf(statSync(nearestFolder(folder)).dev))
  return existsSync(device) && isCrypt(device)
}

type Places = Pick<Connection, 'warehouse' | 'landing' | 'bucket'>

const unknown = 'not known to be encrypted'

const pagesInBucket = ({ kmsKey }: BucketSettings): string =>
  kmsKey === undefined ? 'as their bucket is set up' : `by their bucket, with the key ${kmsKey}`

/** `devices` is where Linux lists its disks. */
export function encryption({ warehouse, landing, bucket }: Places, devices?: string): Finding {
  const byDisk = (folder: string): string => (isOnEncryptedDisk(folder, devices) ? 'by its disk' : unknown)
  const rows =
    warehouse.kind === 'file' ? byDisk(dirname(warehouse.file)) : 'by the disk of the server, if at all'
  const pages = bucket ? pagesInBucket(bucket) : byDisk(landing)
  const found = ok('encryption', `warehouse: ${rows}; landed pages: ${pages}`)
  if (rows !== unknown && pages !== unknown) return found
  return { ...found, advice: 'where the data asks for it, keep it on an encrypted disk' }
}
