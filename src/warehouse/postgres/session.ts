/** One session with PostgreSQL: opened when needed, and reopened when it was lost between transactions. */

import pTimeout from 'p-timeout'
import pg from 'pg'
import { ConfigError } from '../../lib/errors.ts'
import { readInput } from '../../lib/input-file.ts'
import { withLibpqTls } from './address.ts'
import { connectError, Unanswered } from './failure.ts'
import { plainValues } from './plain-values.ts'
import { lookAround, requireEncoding, type Surroundings, setSettings } from './settings.ts'
import { cutOff, type Patience, usualPatience, watchSilence } from './silence.ts'

export interface Address {
  /** May carry a password. */
  readonly url: string
  /** The same without it, for messages. */
  readonly shown: string
  /** How long the server may be silent; as usual when absent. */
  readonly patience?: Patience
}

export interface Session {
  /** The live client, reconnected if the last one was lost. Throws MusterError when that fails. */
  client(): Promise<pg.Client>
  /** Runs a statement now and whenever the session is reopened. */
  always(sql: string): Promise<void>
  /** Makes the statement that runs fail soon. */
  cancel(): void
  /** Ends the session on the server. */
  terminate(): Promise<void>
  /** While held, a lost client is not replaced, because its transaction is lost with it. */
  hold(): void
  release(): void
  close(): Promise<void>
}

/** A connection that is lost cannot say goodbye. */
const goodbyeMs = 5000

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

/** A connection, and the process of the server behind it. */
interface Connected {
  readonly client: pg.Client
  readonly pid: number
}

const newClient = (url: string, milliseconds: number): pg.Client => {
  const client = new pg.Client({
    connectionString: withLibpqTls(url),
    connectionTimeoutMillis: milliseconds,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    application_name: 'muster',
    types: plainValues,
  })
  // The statement that meets a lost connection reports it; without a listener it would end the process.
  client.on('error', () => undefined)
  return client
}

/** The driver waits for ever for a server that does not say goodbye. */
async function leave(client: pg.Client): Promise<void> {
  await pTimeout(client.end(), { milliseconds: goodbyeMs, fallback: () => cutOff(client) }).catch(
    () => undefined,
  )
}

/** The first rows of `sql` on a connection of its own, within so many milliseconds. */
async function ask<Row extends object>(
  url: string,
  sql: string,
  milliseconds: number,
): Promise<Row | undefined> {
  const client = newClient(url, milliseconds)
  try {
    const asked = client.connect().then(() => client.query<Row>(sql))
    return (await pTimeout(asked, { milliseconds })).rows[0]
  } finally {
    cutOff(client)
  }
}

/**
 * Whether the server is there, and works on the statement of that process. One that waits for its client while the client waits
 * for it has lost what one of the two sent. Any refusal of its own shows that it is there; a pooler's (08) does not.
 */
async function isWorking({ url }: Address, pid: number, milliseconds: number): Promise<boolean> {
  try {
    const found = await ask<{ waits: boolean }>(
      url,
      `select wait_event_type is not distinct from 'Client' as waits from pg_catalog.pg_stat_activity where pid = ${pid}`,
      milliseconds,
    )
    return found?.waits === false
  } catch (error) {
    return error instanceof pg.DatabaseError && !error.code?.startsWith('08')
  }
}

/** A pooler that gives each transaction another session: settings, locks and temporary tables would be those of others. */
async function requireOwnSession(
  { url, shown, patience = usualPatience }: Address,
  { client, pid }: Connected,
): Promise<void> {
  const again = await client.query<{ pid: number }>('select pg_catalog.pg_backend_pid() as pid')
  const other = await ask<{ pid: number }>(
    url,
    'select pg_catalog.pg_backend_pid() as pid',
    patience.connectMs,
  )
  if (again.rows[0]?.pid === pid && other?.pid !== pid) return
  throw new ConfigError({
    what: 'a pooler in front of the server shares its sessions between transactions',
    where: shown,
    next: 'name the server itself, or a pool in session mode (pool_mode = session)',
  })
}

async function connect(address: Address, settings: readonly string[]): Promise<Connected> {
  const { url, shown, patience = usualPatience } = address
  let client: pg.Client | undefined
  try {
    requireCertificates(url)
    client = newClient(url, patience.connectMs)
    await client.connect()
    const prepared = client.query([lookAround, setSettings, ...settings].join('; '))
    const [first] = (await pTimeout(prepared, {
      milliseconds: patience.connectMs,
    })) as unknown as pg.QueryResult<Surroundings>[]
    const found = first?.rows[0] ?? { encoding: '', pid: 0 }
    requireEncoding(found, shown)
    const connected = { client, pid: found.pid }
    if ((client as pg.Client & { processID?: number }).processID !== found.pid)
      await requireOwnSession(address, connected)
    watchSilence(client, patience, () => isWorking(address, found.pid, patience.answerMs))
    return connected
  } catch (error) {
    // A connection that never opened cannot be closed; why it did not open is the error to report.
    if (client) cutOff(client)
    throw connectError(shown, error)
  }
}

/** Through a session of its own: the one that runs the statement takes no other before it ends. */
const signal = async (
  { url, patience = usualPatience }: Address,
  pid: number,
  how: 'cancel' | 'terminate',
): Promise<void> => {
  await ask(url, `select pg_catalog.pg_${how}_backend(${pid})`, patience.connectMs)
}

/** Addresses that did not answer a short while ago: a run that goes on without its warehouse would wait for each at every step. */
const unanswered = new WeakMap<Address, Unanswered>()

/** Of the time that a connection may take. */
const restTimes = 4

/** Throws the same again for a while when nothing answers. */
async function connectAgain(address: Address, settings: readonly string[]): Promise<Connected> {
  const known = unanswered.get(address)
  if (known) throw known
  try {
    return await connect(address, settings)
  } catch (error) {
    if (error instanceof Unanswered) {
      unanswered.set(address, error)
      const restMs = (address.patience ?? usualPatience).connectMs * restTimes
      setTimeout(() => unanswered.delete(address), restMs).unref()
    }
    throw error
  }
}

export function openSession(address: Address, settings: readonly string[]): Session {
  let current: (Connected & { isLost: boolean }) | undefined
  let isHeld = false
  const repeated = [...settings]
  return {
    async always(sql) {
      await (await this.client()).query(sql)
      repeated.push(sql)
    },
    async client() {
      if (!current || (current.isLost && !isHeld)) {
        const opened = { ...(await connectAgain(address, repeated)), isLost: false }
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
      if (current && !current.isLost) signal(address, current.pid, 'cancel').catch(() => undefined)
    },
    async terminate() {
      // Where no connection is left for this, the server ends the statement by its own limit.
      if (current) await signal(address, current.pid, 'terminate').catch(() => undefined)
    },
    hold() {
      isHeld = true
    },
    release() {
      isHeld = false
    },
    async close() {
      if (current) await leave(current.client)
      current = undefined
    },
  }
}
