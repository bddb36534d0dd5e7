/** Whether what is stored is encrypted: landed pages by a key of the settings, and all of it by the disk. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Connection } from '../../config/connection.ts'
import { type LandingKeys, requireKey } from '../../landing/encryption.ts'
import { openStore } from '../../landing/open-store.ts'
import { nearestFolder } from '../../temporary/free-space.ts'
import { landingKeys, landingPlace } from '../connection/landing-keys.ts'
import { type Finding, failed, ok } from './finding.ts'

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

function pagesText(keys: LandingKeys | undefined, isOnDisk: boolean, isInBucket: boolean): string {
  const disk = isOnDisk ? ', and by their disk' : ''
  if (isInBucket)
    return `landed pages: ${keys ? `with the key ${keys.id}, and ` : ''}by their bucket, as it is set up`
  if (keys) return `landed pages: with the key ${keys.id}${disk}`
  return isOnDisk ? 'landed pages: by their disk' : 'landed pages: not known to be encrypted'
}

/** Loaded when it is asked for, as `doctor` is one of few commands that do. */
const encryptedFiles = () => import('../../warehouse/duckdb/encrypted-file.ts')

/** Why a file that no disk encrypts is in clear. */
async function reasonOf(): Promise<string> {
  const lacks = await (await encryptedFiles()).lacking()
  if (!lacks) return 'there is no warehouseKey'
  return `DuckDB ${lacks.version.replace('v', '')} encrypts what it writes only with its extension httpfs, which it cannot load`
}

type Places = Pick<Connection, 'warehouse' | 'landing' | 'bucket' | 'landingKey'>

/** Throws ConfigError where pages are encrypted with another key. */
async function requireNoted(places: Places, keys: LandingKeys | undefined): Promise<void> {
  const store = openStore(landingPlace(places))
  try {
    await requireKey(store, keys)
  } finally {
    store.close()
  }
}

/** `devices` is where Linux lists its disks. */
export async function encryption(places: Places, devices?: string): Promise<Finding> {
  try {
    const keys = landingKeys(places)
    await requireNoted(places, keys)
    const { warehouse } = places
    if (warehouse.kind === 'file' && warehouse.key)
      await (await encryptedFiles()).requireEncryption(warehouse.file)
    return await findingOf(places, keys, devices)
  } catch (error) {
    return failed('encryption', error)
  }
}

function withKey(pages: string, arePagesEncrypted: boolean): Finding {
  const found = ok('encryption', `warehouse: by DuckDB, with warehouseKey; ${pages}`)
  if (arePagesEncrypted) return found
  return { ...found, advice: 'set landingKey as well: the landed pages hold what the warehouse holds' }
}

async function findingOf(
  { warehouse, landing, bucket }: Places,
  keys: LandingKeys | undefined,
  devices?: string,
): Promise<Finding> {
  const isOnDisk = !bucket && isOnEncryptedDisk(landing, devices)
  const isEncrypted = isOnDisk || bucket !== undefined || keys !== undefined
  const pages = pagesText(keys, isOnDisk, bucket !== undefined)
  if (warehouse.kind === 'server')
    return ok('encryption', `warehouse: by the server and its disk, if at all; ${pages}`)
  if (warehouse.key) return withKey(pagesText(keys, isOnDisk, bucket !== undefined), isEncrypted)
  const isFileEncrypted = isOnEncryptedDisk(join(warehouse.file, '..'), devices)
  if (isFileEncrypted && isOnDisk && !keys)
    return ok('encryption', 'by the disk of warehouse and landed pages')
  const file = isFileEncrypted ? 'warehouse: by its disk' : `warehouse: none (${await reasonOf()})`
  if (isFileEncrypted && isEncrypted) return ok('encryption', `${file}; ${pages}`)
  const advice = isEncrypted
    ? 'where the data asks for it, keep the warehouse on an encrypted disk'
    : 'where the data asks for it, keep both on an encrypted disk, or set landingKey for the landed pages'
  return { ...ok('encryption', `${file}; ${pages}`), advice }
}
