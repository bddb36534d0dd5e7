/** One session with PostgreSQL: opened when needed, and reopened when it was lost between transactions. */

import pg from 'pg'
import { readInput } from '../../lib/input-file.ts'
import { withLibpqTls } from './address.ts'
import { connectError } from './failure.ts'
import { plainValues } from './plain-values.ts'

export interface Address {
  /** May carry a password. */
  readonly url: string
  /** The same without it, for messages. */
  readonly shown: string
}

export interface Session {
  /** The live client, reconnected if the last one was lost. Throws MusterError when that fails. */
  client(): Promise<pg.Client>
  /** Runs a statement now and whenever the session is reopened. */
  always(sql: string): Promise<void>
  /** Makes the statement that runs fail soon. */
  cancel(): void
  /** While held, a lost client is not replaced, because its transaction is lost with it. */
  hold(): void
  release(): void
  close(): Promise<void>
}

const connectMs = 15_000

/** Settings of every session. A stopped process does not hold its locks for ever: the server ends its transaction. */
const usual = [
  `set timezone = 'UTC'`,
  `set datestyle = 'ISO, YMD'`,
  `set client_encoding = 'UTF8'`,
  // Where a role has this off, a backslash could end a quoted text.
  'set standard_conforming_strings = on',
  // A machine that died is noticed after two minutes, and its locks are released.
  'set tcp_keepalives_idle = 60',
  'set tcp_keepalives_interval = 15',
  'set tcp_keepalives_count = 4',
  `set idle_in_transaction_session_timeout = '5min'`,
  // Whoever may read a table can keep others from changing its columns for as long as a transaction lasts.
  `set lock_timeout = '60s'`,
  `set client_min_messages = 'warning'`,
]

/** Bytes of a file of certificates. */
const largestCertificate = 1_048_576

/** The driver would read whatever file is named, for as long as there is more of it. Throws an Error for its caller. */
function requireCertificates(url: string): void {
  for (const [name, file] of new URLSearchParams(url.split('?')[1] ?? '')) {
    if (!/^ssl(rootcert|cert|key)$/.test(name) || file === 'system') continue
    const read = readInput(file, { mostBytes: largestCertificate })
    if (!Buffer.isBuffer(read)) throw new Error(`${name} names a file that ${read.why}`)
  }
}

async function connect({ url, shown }: Address, settings: readonly string[]): Promise<pg.Client> {
  let client: pg.Client | undefined
  try {
    requireCertificates(url)
    client = new pg.Client({
      connectionString: withLibpqTls(url),
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      application_name: 'muster',
      types: plainValues,
    })
    // The statement that meets a lost connection reports it; without a listener it would end the process.
    client.on('error', () => undefined)
    await client.connect()
    await client.query([...usual, ...settings].join('; '))
    return client
  } catch (error) {
    // A connection that never opened cannot be closed; why it did not open is the error to report.
    await client?.end().catch(() => undefined)
    throw connectError(shown, error)
  }
}

/** Through a session of its own: the one that runs the statement takes no other before it ends. */
async function cancelOn(address: Address, client: pg.Client): Promise<void> {
  const { processID: pid } = client as pg.Client & { readonly processID?: number }
  if (pid == null) return
  const beside = await connect(address, [])
  await beside.query('select pg_cancel_backend($1)', [pid]).finally(() => beside.end())
}

export function openSession(address: Address, settings: readonly string[]): Session {
  let current: { readonly client: pg.Client; isLost: boolean } | undefined
  let isHeld = false
  const repeated = [...settings]
  return {
    async always(sql) {
      await (await this.client()).query(sql)
      repeated.push(sql)
    },
    async client() {
      if (!current || (current.isLost && !isHeld)) {
        const opened = { client: await connect(address, repeated), isLost: false }
        const lose = (): void => {
          opened.isLost = true
        }
        opened.client.once('end', lose).once('error', lose)
        current = opened
      }
      return current.client
    },
    cancel() {
      // Where not even this connects, the statement cannot be reached; the process leaves without waiting for it.
      if (current && !current.isLost) cancelOn(address, current.client).catch(() => undefined)
    },
    hold() {
      isHeld = true
    },
    release() {
      isHeld = false
    },
    async close() {
      // A lost connection cannot be closed; its statements have reported that it was lost.
      await current?.client.end().catch(() => undefined)
      current = undefined
    },
  }
}
