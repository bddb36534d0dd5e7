/** One session with PostgreSQL: opened when needed, and again when it was lost between transactions. */
import pg from 'pg'
import { connectError } from './failure.ts'
import { plainValues } from './plain-values.ts'

export interface Address {
  /** May carry a password. */
  readonly url: string
  /** The same for people. */
  readonly shown: string
}

export interface Session {
  /** The live client, connected anew when the last one was lost. Throws MusterError when that fails. */
  client(): Promise<pg.Client>
  /** Runs a statement now and whenever the session is opened anew. */
  always(sql: string): Promise<void>
  /** While held, a lost client is not replaced: what it had begun is gone. */
  hold(): void
  release(): void
  close(): Promise<void>
}

const connectMs = 15_000

/** libpq's meaning of sslmode: `require` encrypts, `verify-ca` and `verify-full` check as well. */
function withLibpqTls(url: string): string {
  if (!/[?&]sslmode=/.test(url) || /[?&]uselibpqcompat=/.test(url)) return url
  return `${url}&uselibpqcompat=true`
}

/** A transaction never waits for ever for a process that was stopped: the server ends it and lets go of its locks. */
const usual = [
  `set timezone = 'UTC'`,
  `set datestyle = 'ISO, YMD'`,
  `set client_encoding = 'UTF8'`,
  // A backslash in a text is a backslash: where a role has this off, it would end what quotes hold together.
  'set standard_conforming_strings = on',
  // A machine that vanished without a word is noticed after two minutes, and its locks are free.
  'set tcp_keepalives_idle = 60',
  'set tcp_keepalives_interval = 15',
  'set tcp_keepalives_count = 4',
  `set idle_in_transaction_session_timeout = '5min'`,
  `set client_min_messages = 'warning'`,
]

async function connect({ url, shown }: Address, settings: readonly string[]): Promise<pg.Client> {
  let client: pg.Client | undefined
  try {
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
    hold() {
      isHeld = true
    },
    release() {
      isHeld = false
    },
    async close() {
      // A connection that was lost cannot be closed; what it lost, its own statements have reported.
      await current?.client.end().catch(() => undefined)
      current = undefined
    },
  }
}
