/** Keeps one session with PostgreSQL: opens it when needed, and reopens it if lost between transactions. */
import pTimeout from 'p-timeout'
import pg from 'pg'
import { ConfigError } from '../../lib/errors.ts'
import { readInput } from '../../lib/input-file.ts'
import { withLibpqTls } from './address.ts'
import { connectError, ServerSilent } from './failure.ts'
import { plainValues } from './plain-values.ts'
import { requireEncoding, type ServerFacts, serverFacts, setSettings } from './settings.ts'
import { cutOff, defaultPatience, type SilenceLimits, watchSilence } from './silence.ts'

export interface PostgresAddress {
  /** May carry a password. */
  readonly url: string
  /** The same without it, for messages. */
  readonly shown: string
  /** How long the server may be silent; the default if absent. */
  readonly patience?: SilenceLimits
}

export interface PostgresSession {
  /** The live client, reconnected if the last one was lost. Throws MusterError if that fails. */
  client(): Promise<pg.Client>
  /** Runs a statement now and whenever the session is reopened. */
  always(sql: string): Promise<void>
  /** Cancels the running statement. */
  cancel(): void
  /** Ends the session on the server. */
  terminate(): Promise<void>
  /** Until released, a lost client is not replaced, because its transaction is lost with it. */
  hold(): void
  release(): void
  close(): Promise<void>
}

/** Max milliseconds to close a connection, as a lost one cannot be closed properly. */
const goodbyeMs = 5000

/** Max bytes of a certificate file. */
const largestCertificate = 1_048_576

/** Checks certificate files: the driver would read any file without a limit. Throws an Error for its caller. */
function requireCertificates(url: string): void {
  for (const [name, file] of new URLSearchParams(url.split('?')[1] ?? '')) {
    if (!/^ssl(rootcert|cert|key)$/.test(name) || file === 'system') continue
    const read = readInput(file, { maxBytes: largestCertificate })
    if (!Buffer.isBuffer(read)) throw new Error(`${name} names a file that ${read.why}`)
  }
}

/** A connection, and its server process. */
interface ServerConnection {
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
  // The next statement reports a lost connection; without a listener the error would end the process.
  client.on('error', () => undefined)
  return client
}

/** Limits the wait: the driver waits for ever for a server that does not close the connection. */
async function leave(client: pg.Client): Promise<void> {
  await pTimeout(client.end(), { milliseconds: goodbyeMs, fallback: () => cutOff(client) }).catch(
    () => undefined,
  )
}

/** The rows of `sql` on a new connection, within a time limit in milliseconds. */
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
 * Whether the server is up and works on the statement of that process. If it waits for its client while the client waits for
 * it, a message was lost. Any error from the server shows that it is up; an error from a pooler (08) does not.
 */
async function isWorking({ url }: PostgresAddress, pid: number, milliseconds: number): Promise<boolean> {
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

/** Refuses a pooler that shares sessions between transactions: settings, locks and temporary tables would be mixed up. */
async function requireOwnSession(
  { url, shown, patience = defaultPatience }: PostgresAddress,
  { client, pid }: ServerConnection,
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

async function connect(address: PostgresAddress, settings: readonly string[]): Promise<ServerConnection> {
  const { url, shown, patience = defaultPatience } = address
  let client: pg.Client | undefined
  try {
    requireCertificates(url)
    client = newClient(url, patience.connectMs)
    await client.connect()
    const prepared = client.query([serverFacts, setSettings, ...settings].join('; '))
    const [first] = (await pTimeout(prepared, {
      milliseconds: patience.connectMs,
    })) as unknown as pg.QueryResult<ServerFacts>[]
    const found = first?.rows[0] ?? { encoding: '', pid: 0 }
    requireEncoding(found, shown)
    const connected = { client, pid: found.pid }
    if ((client as pg.Client & { processID?: number }).processID !== found.pid)
      await requireOwnSession(address, connected)
    watchSilence(client, patience, () => isWorking(address, found.pid, patience.answerMs))
    return connected
  } catch (error) {
    // A connection that never opened cannot be closed; report why it did not open.
    if (client) cutOff(client)
    throw connectError(shown, error)
  }
}

/** Uses a new session: a session accepts no second statement while one runs. */
const signal = async (
  { url, patience = defaultPatience }: PostgresAddress,
  pid: number,
  how: 'cancel' | 'terminate',
): Promise<void> => {
  await ask(url, `select pg_catalog.pg_${how}_backend(${pid})`, patience.connectMs)
}

/** Addresses that did not answer recently: otherwise a run that continues without its warehouse would wait at every step. */
const unanswered = new WeakMap<PostgresAddress, ServerSilent>()

/** How long not to try again, in multiples of the time that a connection may take. */
const restTimes = 4

/** After no answer, throws the same error for a while without connecting. */
async function connectAgain(
  address: PostgresAddress,
  settings: readonly string[],
): Promise<ServerConnection> {
  const known = unanswered.get(address)
  if (known) throw known
  try {
    return await connect(address, settings)
  } catch (error) {
    if (error instanceof ServerSilent) {
      unanswered.set(address, error)
      const restMs = (address.patience ?? defaultPatience).connectMs * restTimes
      setTimeout(() => unanswered.delete(address), restMs).unref()
    }
    throw error
  }
}

export function openSession(address: PostgresAddress, settings: readonly string[]): PostgresSession {
  let current: (ServerConnection & { isLost: boolean }) | undefined
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
      // If this cannot connect either, the statement cannot be cancelled; the process exits without waiting for it.
      if (current && !current.isLost) signal(address, current.pid, 'cancel').catch(() => undefined)
    },
    async terminate() {
      // If the server accepts no more connections, its own time limit ends the statement.
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
