/** Whether what is stored is encrypted: by the disk, as the program itself does not. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from '../../config/connection.ts'
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

const reason =
  'DuckDB 1.5 encrypts what it writes only with its extension httpfs, which its Node package lacks'

export function encryption(
  { warehouse, landing }: Pick<Connection, 'warehouse' | 'landing'>,
  devices?: string,
): Finding {
  const isEncrypted = isOnEncryptedDisk(landing, devices)
  const pages = isEncrypted ? 'landed pages: by their disk' : 'landed pages: not known to be encrypted'
  if (warehouse.kind === 'server')
    return ok('encryption', `warehouse: by the server and its disk, if at all; ${pages}`)
  const isFileEncrypted = isOnEncryptedDisk(join(warehouse.file, '..'), devices)
  if (isFileEncrypted && isEncrypted) return ok('encryption', 'by the disk of warehouse and landed pages')
  const file = isFileEncrypted ? 'warehouse: by its disk' : `warehouse: none (${reason})`
  const advice = 'where the data asks for it, keep both on an encrypted disk'
  return { ...ok('encryption', `${file}; ${pages}`), advice }
}
