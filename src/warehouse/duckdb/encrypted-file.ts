/**
 * DuckDB files that DuckDB itself encrypts: AES-256-GCM for the file, its log, and what spills from memory.
 *
 * It reads them by itself, and writes them with OpenSSL only, which its extension httpfs brings: the random numbers that it
 * has without are not secure, and a nonce that comes twice under one key breaks AES-GCM.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { ConfigError } from '../../lib/errors.ts'
import { readAtOnce } from '../../lib/input-file.ts'
import { quoteText } from '../sql-text.ts'

/** 32 bytes in base64, which DuckDB takes as they are. */
export type FileKey = string

export const temporaryKey = (): FileKey => randomBytes(32).toString('base64')

/** The options of an `attach`, of which the key is one. */
export function attachOptions(key: FileKey | undefined, ...others: readonly string[]): string {
  const all = [...others, ...(key === undefined ? [] : [`encryption_key ${quoteText(key)}`])]
  return all.length === 0 ? '' : ` (${all.join(', ')})`
}

/** Where the letters DUCK end in a database file, and the flags begin of which the lowest one says that it is encrypted. */
const [letters, flags] = [12, 20]

/** Whether DuckDB has encrypted the file; false for one that is missing, too short or none of DuckDB's. */
export function isEncrypted(file: string): boolean {
  const head = Buffer.alloc(flags + 1)
  try {
    const opened = openSync(file, readAtOnce)
    try {
      readSync(opened, head, 0, head.length, 0)
    } finally {
      closeSync(opened)
    }
  } catch {
    // Missing, a folder, or not for this user: whoever opens it next says so.
    return false
  }
  return head.toString('latin1', 8, letters) === 'DUCK' && ((head[flags] ?? 0) & 1) === 1
}

/** What keeps this process from writing encrypted files; undefined when nothing does. Extensions lie in the user's home. */
async function obstacle(connection: DuckDBConnection): Promise<string | undefined> {
  try {
    await connection.run('load httpfs')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function extensionPlace(connection: DuckDBConnection): Promise<{ version: string; folder: string }> {
  const reader = await connection.runAndReadAll(
    `select version() as version, (select platform from pragma_platform()) as platform,
       current_setting('extension_directory') as folder, current_setting('home_directory') as home`,
  )
  const [found] = reader.getRowObjectsJS() as Record<'version' | 'platform' | 'folder' | 'home', string>[]
  const root = found?.folder || `${found?.home || '~'}/.duckdb/extensions`
  return { version: found?.version ?? '', folder: `${root}/${found?.version}/${found?.platform}` }
}

/** What keeps this machine from writing encrypted files safely, and where that would have to be; undefined when nothing does. */
export async function lacking(): Promise<{ version: string; folder: string; cause: string } | undefined> {
  const instance = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' })
  const connection = await instance.connect()
  try {
    const cause = await obstacle(connection)
    return cause === undefined ? undefined : { cause, ...(await extensionPlace(connection)) }
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** Throws ConfigError where encrypted files cannot be written safely; nothing was written then. */
export async function requireEncryption(file: string): Promise<void> {
  const lacks = await lacking()
  if (!lacks) return
  const { version, folder, cause } = lacks
  throw new ConfigError({
    what: `warehouseKey is set, but DuckDB ${version} writes encrypted files only with its extension httpfs, which it cannot load`,
    where: file,
    next: `put httpfs of exactly this version into ${folder}, as INSTALL httpfs in the shell of DuckDB ${version} does, or remove warehouseKey and keep the file on an encrypted disk; nothing was written`,
    cause,
  })
}

/** Of a DuckDB whose warehouse has a key: what spills is encrypted, or where that cannot be, nothing spills. */
export async function encryptSpills(connection: DuckDBConnection): Promise<void> {
  const isAble = (await obstacle(connection)) === undefined
  await connection.run(isAble ? 'set temp_file_encryption = true' : "set temp_directory = ''")
}
