/** A server with TLS: its authority and its name are checked as the address asks. */
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgres } from '../../../src/warehouse/postgres/open.ts'
import { selfSigned } from '../../support/certificate.ts'
import { type OwnServer, startPostgres } from '../../support/postgres-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-tls-'))
let server: OwnServer

beforeAll(async () => {
  const { key, cert } = selfSigned()
  writeFileSync(join(folder, 'right.pem'), cert)
  writeFileSync(join(folder, 'wrong.pem'), selfSigned().cert)
  server = await startPostgres(
    ['ssl=on', 'ssl_cert_file=server.pem', 'ssl_key_file=server.key'],
    dataFolder => {
      const { uid, gid } = statSync(join(dataFolder, 'PG_VERSION'))
      for (const [name, text] of [
        ['server.pem', cert],
        ['server.key', key],
      ] as const) {
        writeFileSync(join(dataFolder, name), text, { mode: 0o600 })
        chownSync(join(dataFolder, name), uid, gid)
      }
    },
  )
}, 60_000)
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function connect(host: string, mode: string, authority?: string): Promise<string> {
  const url = new URL(`${server.url}/postgres`)
  url.hostname = host
  url.searchParams.set('sslmode', mode)
  if (authority) url.searchParams.set('sslrootcert', join(folder, authority))
  try {
    const engine = await openPostgres({ url: url.href, shown: 'postgres://shown' }, { scratch: folder })
    const [row] = await engine.rows<{ ssl: boolean }>(
      'select ssl from pg_catalog.pg_stat_ssl where pid = pg_catalog.pg_backend_pid()',
    )
    await engine.close()
    return row?.ssl ? 'encrypted' : 'plain'
  } catch (error) {
    return (error as Error).message
  }
}

const refused = /^the certificate of the server was refused[^\n]*sslrootcert[^\n]*$/

test.each<[string, readonly [string, string?], RegExp]>([
  ['localhost', ['verify-full', 'right.pem'], /^encrypted$/],
  ['localhost', ['verify-full', 'wrong.pem'], refused],
  ['127.0.0.1', ['verify-full', 'right.pem'], refused],
  ['127.0.0.1', ['verify-ca', 'right.pem'], /^encrypted$/],
  ['127.0.0.1', ['verify-ca', 'wrong.pem'], refused],
  ['localhost', ['verify-full'], refused],
  ['127.0.0.1', ['require'], /^encrypted$/],
])('%s, sslmode and authority %j', async (host, [mode, authority], expected) => {
  expect(await connect(host, mode, authority)).toMatch(expected)
})
