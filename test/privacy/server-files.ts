/** What the files of a PostgreSQL server hold, whatever its tables show. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../src/warehouse/engine.ts'

/** Files of the database of a server that hold the text: tables, indexes, and what statistics quote. */
export async function filesWith(engine: Engine, texts: readonly string[]): Promise<string[]> {
  await engine.run('checkpoint')
  const [row] = await engine.rows<{ folder: string }>(
    `select current_setting('data_directory') || '/base/' || oid as folder from pg_database where datname = current_database()`,
  )
  const folder = row?.folder ?? ''
  const held = readdirSync(folder).filter(file => {
    const bytes = bytesOf(join(folder, file))
    return texts.some(text => bytes.includes(text))
  })
  const names = await engine.rows<{ file: string; name: string }>(
    `select pg_relation_filenode(oid)::text as file, relname::text as name from pg_class where pg_relation_filenode(oid) is not null`,
  )
  return held.map(file => names.find(one => file === one.file)?.name ?? file)
}

/** The bytes of a file; none when the server has replaced it since it was listed, as `pg_internal.init`. */
function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return Buffer.alloc(0)
  }
}
