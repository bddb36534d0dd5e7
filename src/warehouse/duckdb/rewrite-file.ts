/** Writes a DuckDB file anew: what was deleted or overwritten stays in its free blocks until then. */
import { statSync } from 'node:fs'
import { temporaryPlace } from '../../temporary/places.ts'
import { attachAs, create } from './connect.ts'
import { replaceDatabase } from './database-file.ts'
import { openError } from './failure.ts'

/** The file must be closed here. It is locked until the new one is in its place, so that nobody writes to the old one. */
export async function rewriteFile(file: string): Promise<void> {
  const { mode } = statSync(file)
  const draft = temporaryPlace(`${file}.rewritten`, 'a warehouse without what was deleted')
  try {
    const { connection, instance, temporary } = await create(`${file}.tmp`)
    try {
      await attachAs(connection, { file, name: 'warehouse', readOnly: false })
      await attachAs(connection, { file: draft.path, name: 'rewritten', readOnly: false })
      await connection.run('copy from database warehouse to rewritten')
      await connection.run('checkpoint rewritten')
      await connection.run('detach rewritten')
      replaceDatabase(draft.path, file, mode)
    } finally {
      connection.closeSync()
      instance.closeSync()
      temporary.remove()
    }
  } catch (error) {
    throw openError(file, error)
  } finally {
    draft.remove()
  }
}
