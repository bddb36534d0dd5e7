/** Schemas of a rebuild: gone after it, kept while its process lives, and dropped by the next command when it was killed. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { migrate } from '../../src/state/migrate.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { dropLeftoverSchemas, temporarySchemas } from '../../src/warehouse/postgres/temporary-schemas.ts'
import { database } from './database.ts'

test('schemas stay while the session of their owner lives, and no longer', async () => {
  const made = await database()
  const open = () =>
    openPostgres(
      { url: made.url, shown: 'test' },
      { scratch: mkdtempSync(join(tmpdir(), 'muster-schemas-')) },
    )
  const [owner, other] = [await open(), await open()]
  await migrate(owner, '2026-11-03T02:00:00.000Z')
  await owner.run('create schema replay_mine')
  const { prefix } = await temporarySchemas(owner, 'replay')
  await owner.run(`create table "${prefix}pii".kept as select 'Ada' as name`)
  const names = async () =>
    (
      await other.rows<{ nspname: string }>(
        `select nspname from pg_namespace where nspname like '%replay%' order by 1`,
      )
    ).map(({ nspname }) => nspname.replace(prefix, 'TEMPORARY_'))
  const all = ['history', 'mart', 'ops', 'pii', 'star'].map(name => `TEMPORARY_${name}`)
  await dropLeftoverSchemas(other)
  expect(await names()).toEqual([...all, 'replay_mine'])
  await owner.close()
  await dropLeftoverSchemas(other)
  // Somebody else's schema is not touched, whatever its name.
  expect(await names()).toEqual(['replay_mine'])
  await other.close()
  await made.drop()
})
