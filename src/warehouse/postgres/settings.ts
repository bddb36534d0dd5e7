/** What every session relies on, whatever the server, the database or the role has by default. */
import { ConfigError } from '../../lib/errors.ts'
import { quoteText } from '../sql-text.ts'

/** Meaning and spelling of statements and values: always set. */
const meaning: Readonly<Record<string, string>> = {
  // Each statement sees what committed before it: builds and leases are read again inside their transaction.
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  TimeZone: 'UTC',
  timezone_abbreviations: 'Default',
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  client_encoding: 'UTF8',
  // Where a role has this off, a backslash could end a quoted text.
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  quote_all_identifiers: 'off',
  transform_null_equals: 'off',
  array_nulls: 'on',
  bytea_output: 'hex',
  // Digits that a double needs to be read back as the same number.
  extra_float_digits: '1',
  lc_numeric: 'C',
  lc_monetary: 'C',
  lc_time: 'C',
  restrict_nonsystem_relation_kind: '',
  client_min_messages: 'warning',
}

/** Limits of time: those in the address, as `?options=-c statement_timeout=1h`, go first. */
const limits: Readonly<Record<string, string>> = {
  // A mart may take as long as it takes; that the server still answers is watched apart.
  statement_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  // A stopped process does not hold its locks for ever: the server ends its transaction.
  idle_in_transaction_session_timeout: '5min',
  // Whoever may read a table can keep others from changing its columns for as long as a transaction lasts.
  lock_timeout: '60s',
  // A machine that died is noticed after two minutes, and its locks are released.
  tcp_keepalives_idle: '60',
  tcp_keepalives_interval: '15',
  tcp_keepalives_count: '4',
}

/** A default of the server, the database, the role or the address that is not what sessions rely on. */
export interface Default {
  readonly name: string
  readonly value: string
  /** Whether the address gives it, so that it counts. */
  readonly is_given: boolean
}

/** Those that make a difference to an administrator: isolation, limits, and whether the database is read-only. */
export const unlikelyDefaults = `
  select name, reset_val as value, source = 'client' as is_given from pg_catalog.pg_settings
  where (name, reset_val) in (('default_transaction_isolation', 'serializable'), ('default_transaction_isolation', 'repeatable read'), ('default_transaction_read_only', 'on'), ('standard_conforming_strings', 'off'))
    or (name in ('statement_timeout', 'transaction_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout') and reset_val <> '0')
  order by name`

const list = (settings: Readonly<Record<string, string>>, isLimit: boolean): string[] =>
  Object.entries(settings).map(([name, value]) => `(${quoteText(name)}, ${quoteText(value)}, ${isLimit})`)

/** Settings that the version of the server lacks are left out. What was committed stays: `off` would lose the last commits in a crash. */
export const setSettings = `
  select pg_catalog.set_config(own.name, own.value, false)
  from (values ${[...list(meaning, false), ...list(limits, true)].join(', ')}) as own(name, value, is_limit)
  join pg_catalog.pg_settings as given on given.name = own.name
  where not (own.is_limit and given.source = 'client');
  select pg_catalog.set_config('synchronous_commit', 'on', false) where pg_catalog.current_setting('synchronous_commit') = 'off'`

/** What a session finds behind its address. */
export const lookAround = `select pg_catalog.current_setting('server_encoding') as encoding, pg_catalog.pg_backend_pid() as pid`

export interface Surroundings {
  readonly encoding: string
  /** The process of the server that answered. */
  readonly pid: number
}

/** In another encoding a name that it cannot write would keep its record from loading. Throws ConfigError. */
export function requireEncoding({ encoding }: Surroundings, location: string): void {
  if (encoding === 'UTF8') return
  throw new ConfigError({
    what: `the database keeps texts in ${encoding}, which cannot hold every name`,
    where: location,
    next: `make one with create database … encoding 'UTF8' template template0, and name it in the address`,
  })
}
