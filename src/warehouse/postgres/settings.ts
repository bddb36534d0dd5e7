/** Sets what every session relies on, whatever the defaults of server, database and role. */
import { ConfigError } from '../../lib/errors.ts'
import { quoteText } from '../sql-text.ts'

/** Settings that change the meaning or spelling of statements and values; always set. */
const meaning: Readonly<Record<string, string>> = {
  // Each statement sees earlier commits: transactions read builds and leases again.
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  TimeZone: 'UTC',
  timezone_abbreviations: 'Default',
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  client_encoding: 'UTF8',
  // If a role has this off, a backslash could end a quoted text.
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  quote_all_identifiers: 'off',
  transform_null_equals: 'off',
  array_nulls: 'on',
  bytea_output: 'hex',
  // Writes enough digits that a double reads back as the same number.
  extra_float_digits: '1',
  lc_numeric: 'C',
  lc_monetary: 'C',
  lc_time: 'C',
  restrict_nonsystem_relation_kind: '',
  client_min_messages: 'warning',
}

/** Timeouts; the address can override them, as `?options=-c statement_timeout=1h`. */
const limits: Readonly<Record<string, string>> = {
  // A mart may take any time; silence.ts checks that the server still answers.
  statement_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  // The server ends the transaction of a suspended process, which releases its locks.
  idle_in_transaction_session_timeout: '5min',
  // Any reader of a table can block changes of its columns for as long as its transaction lasts.
  lock_timeout: '60s',
  // The server notices a dead client machine after two minutes and releases its locks.
  tcp_keepalives_idle: '60',
  tcp_keepalives_interval: '15',
  tcp_keepalives_count: '4',
}

/** A default of the server, the database, the role or the address that differs from what sessions rely on. */
export interface ServerDefault {
  readonly name: string
  readonly value: string
  /** Whether it comes from the address, and therefore applies. */
  readonly is_given: boolean
}

/** Selects the defaults that matter to an administrator: isolation, limits, and whether the database is read-only. */
export const unexpectedDefaults = `
  select name, reset_val as value, source = 'client' as is_given from pg_catalog.pg_settings
  where (name, reset_val) in (('default_transaction_isolation', 'serializable'), ('default_transaction_isolation', 'repeatable read'), ('default_transaction_read_only', 'on'), ('standard_conforming_strings', 'off'))
    or (name in ('statement_timeout', 'transaction_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout') and reset_val <> '0')
  order by name`

const list = (settings: Readonly<Record<string, string>>, isLimit: boolean): string[] =>
  Object.entries(settings).map(([name, value]) => `(${quoteText(name)}, ${quoteText(value)}, ${isLimit})`)

/** Skips settings unknown to the server's version. Overrides synchronous_commit `off`, which would lose commits in a crash. */
export const setSettings = `
  select pg_catalog.set_config(own.name, own.value, false)
  from (values ${[...list(meaning, false), ...list(limits, true)].join(', ')}) as own(name, value, is_limit)
  join pg_catalog.pg_settings as given on given.name = own.name
  where not (own.is_limit and given.source = 'client');
  select pg_catalog.set_config('synchronous_commit', 'on', false) where pg_catalog.current_setting('synchronous_commit') = 'off'`

/** Facts about the server behind an address. */
export const serverFacts = `select pg_catalog.current_setting('server_encoding') as encoding, pg_catalog.pg_backend_pid() as pid`

export interface ServerFacts {
  readonly encoding: string
  /** The server process that answered. */
  readonly pid: number
}

/** Requires UTF8: other encodings cannot write every name, and such a record would not load. Throws ConfigError. */
export function requireEncoding({ encoding }: ServerFacts, location: string): void {
  if (encoding === 'UTF8') return
  throw new ConfigError({
    what: `the database stores texts in ${encoding}, which cannot hold every name`,
    where: location,
    next: `create one with create database … encoding 'UTF8' template template0, and name it in the address`,
  })
}
