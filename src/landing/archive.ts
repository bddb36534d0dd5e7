/** Pages that are loaded, compacted: one zstd Parquet file a walk instead of a folder of JSON. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Landing } from './folder.ts'

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Small row groups: pages are long texts, and a row group is held in memory whole. */
const pagesPerRowGroup = 2048

async function withDuckdb<Result>(
  work: (run: (sql: string) => Promise<unknown[][]>) => Promise<Result>,
): Promise<Result> {
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '120MB', threads: '1' })
  const connection = await instance.connect()
  try {
    return await work(async sql => (await connection.runAndReadAll(sql)).getRows())
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

const archiveOf = (landing: Landing, walkId: string): string => join(landing.root, `${walkId}.parquet`)

/** Turns the folders of these walks into archives; a walk is a folder or an archive at any moment, never neither. */
export async function compact(landing: Landing, walkIds: readonly string[]): Promise<void> {
  if (walkIds.length === 0) return
  await withDuckdb(async run => {
    for (const walkId of walkIds) {
      const files = landing.pages(walkId).map(page => quote(page.file))
      if (files.length === 0) {
        landing.discard(walkId)
        continue
      }
      const facts = quote(JSON.stringify(landing.facts(walkId)))
      const archive = archiveOf(landing, walkId)
      await run(`copy (select parse_filename(filename) as name, content, ${facts} as facts from read_text([${files.join(', ')}]))
        to ${quote(`${archive}.part`)} (format parquet, compression zstd, row_group_size ${pagesPerRowGroup})`)
      renameSync(`${archive}.part`, archive)
      landing.discard(walkId)
    }
  })
}

/** Every walk that can be replayed, oldest first, folders and archives alike. */
export function keptWalks(landing: Landing): string[] {
  const archives = existsSync(landing.root)
    ? readdirSync(landing.root)
        .filter(name => name.endsWith('.parquet'))
        .map(name => basename(name, '.parquet'))
    : []
  return [...new Set([...archives, ...landing.walks()])].sort()
}

/** The pages of an archived walk, written back as files below `folder`; the caller removes them. */
export async function unpack(landing: Landing, walkId: string, folder: string): Promise<void> {
  const target = join(folder, walkId)
  mkdirSync(target, { recursive: true, mode: 0o700 })
  await withDuckdb(async run => {
    const source = `read_parquet(${quote(archiveOf(landing, walkId))})`
    const names = await run(`select name, facts from ${source} order by name`)
    writeFileSync(join(target, 'walk.json'), String(names[0]?.[1] ?? '{}'), { mode: 0o600 })
    for (const [name] of names) {
      const [row] = await run(`select content from ${source} where name = ${quote(String(name))}`)
      writeFileSync(join(target, String(name)), String(row?.[0] ?? ''), { mode: 0o600 })
    }
  })
}

/** Removes archives last written before `before` (milliseconds); returns how many. */
export function expire(landing: Landing, before: number): number {
  if (!existsSync(landing.root)) return 0
  const old = readdirSync(landing.root)
    .filter(name => name.endsWith('.parquet'))
    .filter(name => statSync(join(landing.root, name)).mtimeMs < before)
  for (const name of old) rmSync(join(landing.root, name), { force: true })
  return old.length
}
