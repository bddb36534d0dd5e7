/** Names and texts that try to be statements are quoted or refused. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { migrate } from '../../../src/state/migrate.ts'
import { currentLeases, releaseLease, takeLease } from '../../../src/state/runs/leases.ts'
import { runNamed } from '../../../src/state/runs/runs.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { quoteName, quoteText } from '../../../src/warehouse/sql-text.ts'
import { muster } from '../../support/captured-world.ts'
import { addressOf, onServer } from '../../support/postgres-database.ts'

const scratch = mkdtempSync(join(tmpdir(), 'muster-names-'))
const database = `we"ird ' -- ${process.pid}`
const hostile = [
  `'; drop schema star cascade; --`,
  `\\'; drop schema star cascade; --`,
  '$$ $1 star.x "',
  'é\t\n',
]
let engine: Engine | undefined

afterAll(async () => {
  await engine?.close()
  await onServer(`drop database if exists ${quoteName(database)} with (force)`)
  rmSync(scratch, { recursive: true, force: true })
})

/** The worst setting that a role may have: a backslash in a text would quote what follows. */
async function open(): Promise<Engine> {
  await onServer(`create database ${quoteName(database)} template template0`)
  const url = `${addressOf(encodeURIComponent(database))}?options=-c%20standard_conforming_strings%3Doff`
  const opened = await openPostgres({ url, shown: 'here' }, { scratch, schemaPrefix: 'a_' })
  await migrate(opened, new Date().toISOString())
  return opened
}

test('hostile texts and names are quoted, also in a database with a hostile name', async () => {
  engine = await open()
  for (const text of hostile) {
    expect(await engine.rows(`select ${quoteText(text)} as it`)).toEqual([{ it: text }])
    expect(await engine.rows('select $1::text as it', [text])).toEqual([{ it: text }])
    expect(await engine.rows(`select 1 as ${quoteName(text)}`)).toEqual([{ [text]: 1 }])
    await engine.announce(text)
    expect(await engine.isPresent(text)).toBe(true)
    expect(await engine.isPresent(`${text}.`)).toBe(false)
    const lease = await takeLease(engine, { resource: text, holder: text, ms: 60_000 })
    expect(await currentLeases(engine)).toMatchObject([{ resource: text, holder: text, isPresent: true }])
    await releaseLease(engine, lease)
    expect(await runNamed(engine, text)).toBeUndefined()
  }
  expect(() => quoteName('')).toThrow('must not be empty')
  expect(() => quoteName('a\0b')).toThrow('NUL')
})

test.each(['A_', `x'; drop schema star cascade; --`, '"', 'pg_x', 'a'.repeat(64)])(
  'a schemaPrefix of %j stops every command before it connects',
  async prefix => {
    const env = {
      MUSTER_BASE_URL: 'http://127.0.0.1:1/api',
      MUSTER_API_KEY: 'sandbox-company-key',
      MUSTER_WAREHOUSE: 'postgres://owner@127.0.0.1:1/none',
      MUSTER_SCHEMA_PREFIX: prefix,
    }
    for (const line of ['status', 'sync']) {
      const { code, err } = await muster(line, { env, clock: systemClock })
      expect([code, err]).toEqual([
        78,
        expect.stringMatching(/^muster: [^\n]*(SCHEMA_PREFIX|schemaPrefix)[^\n]*\n$/),
      ])
    }
  },
)
