/** Schemas of a rebuild: gone after it, kept while its process lives, and dropped by the next command when it was killed. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { migrate } from '../../../src/state/migrate.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { dropLeftoverSchemas, temporarySchemas } from '../../../src/warehouse/postgres/temporary-schemas.ts'
import { database } from '../../support/postgres-database.ts'

const openOn = (url: string) =>
  openPostgres({ url, shown: 'test' }, { scratch: mkdtempSync(join(tmpdir(), 'muster-schemas-')) })

/** Schemas of replays, without the prefix that this process gives to its own. */
async function replaySchemas(engine: Engine, prefix: string): Promise<string[]> {
  const rows = await engine.rows<{ nspname: string }>(
    `select nspname from pg_namespace where nspname like '%replay%' order by 1`,
  )
  return rows.map(({ nspname }) => nspname.replace(prefix, 'TEMPORARY_'))
}

test('schemas stay while the session of their owner lives, and no longer', async () => {
  const made = await database()
  const [owner, other] = [await openOn(made.url), await openOn(made.url)]
  await migrate(owner, '2026-11-03T02:00:00.000Z')
  await owner.run('create schema replay_mine')
  const { prefix } = await temporarySchemas(owner, 'replay')
  await owner.run(`create table "${prefix}pii".kept as select 'Ada' as name`)
  const all = ['history', 'mart', 'ops', 'pii', 'star'].map(name => `TEMPORARY_${name}`)
  await dropLeftoverSchemas(other)
  expect(await replaySchemas(other, prefix), 'while the owner lives').toEqual([...all, 'replay_mine'])
  await owner.close()
  await dropLeftoverSchemas(other)
  // A schema that Muster did not create stays, whatever its name.
  expect(await replaySchemas(other, prefix), 'after it ended').toEqual(['replay_mine'])
  await other.close()
  await made.drop()
})
