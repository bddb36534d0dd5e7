/** Why PostgreSQL did not let us in, or did not do what it was asked, in one line. */
import { MusterError } from '../../lib/errors.ts'

interface Reason {
  /** SQLSTATE, error code of Node, or what the message says. */
  readonly when: RegExp
  readonly what: string
  readonly next: string
}

const connecting: readonly Reason[] = [
  {
    when: /(ENOENT|EACCES|EISDIR).*open/,
    what: 'a certificate file that the address names cannot be read',
    next: 'check sslrootcert, sslcert and sslkey, and who may read the files',
  },
  {
    when: /ECONNREFUSED|ENOENT/,
    what: 'nothing listens there: the connection was refused',
    next: 'check host and port, and that PostgreSQL runs and listens on that address',
  },
  { when: /ENOTFOUND|EAI_AGAIN/, what: 'the host is not known', next: 'check the name of the host' },
  {
    when: /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timeout expired/,
    what: 'the host does not answer',
    next: 'check host and port, and the firewalls between',
  },
  {
    when: /28P01|password must be a string|no password supplied/,
    what: 'the password was refused, or there is none',
    next: 'set it in the address through a variable, or in PGPASSWORD or ~/.pgpass',
  },
  {
    when: /3D000/,
    what: 'there is no such database',
    next: 'create it, or correct the name at the end of the address',
  },
  {
    when: /28000/,
    what: 'the server does not let this user in',
    next: 'check the user, pg_hba.conf of the server, and whether it asks for TLS (sslmode=require)',
  },
  {
    when: /does not support SSL/,
    what: 'the server has no TLS',
    next: 'leave sslmode out of the address if the network between is yours',
  },
  {
    when: /CERT|SELF_SIGNED|certificate|UNABLE_TO|ERR_TLS|EPROTO/,
    what: 'the certificate of the server was refused',
    next: 'name the file of its authority with sslrootcert, and the host as the certificate does',
  },
  { when: /53300/, what: 'the server has no connection left', next: 'close some, or run again later' },
  { when: /57P03/, what: 'the server is starting or stopping', next: 'run again in a moment' },
]

const working: readonly Reason[] = [
  {
    when: /53100|No space left/,
    what: 'the disk of the server is full',
    next: 'free some space and run the command again; what was committed is kept',
  },
  {
    when: /57014/,
    what: 'the server stopped a statement that took too long',
    next: 'run again, or raise statement_timeout of this role; what was committed is kept',
  },
  {
    when: /55P03|40P01/,
    what: 'another session holds what this one needs',
    next: 'run again when it is done; what was committed is kept',
  },
  {
    when: /57P01|57P02|57P05|25P03|08\d{3}|ECONNRESET|EPIPE|Connection terminated|not queryable|Client was closed/,
    what: 'the connection to the server was lost',
    next: 'run again; what was committed is kept',
  },
  {
    when: /42501/,
    what: 'this user may not do that',
    next: 'grant it what it needs, or connect as another user',
  },
  {
    when: /25006/,
    what: 'the server takes no changes: it is a standby, or read-only',
    next: 'name the primary in the address',
  },
]

function markOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(markOf).join(' ')
  if (!(error instanceof Error)) return String(error)
  const code = (error as { code?: unknown }).code
  return `${typeof code === 'string' ? code : ''} ${error.message}`
}

/** Its first line only: the rest may show values. */
const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''

/** Codes first: words of a message may come from anywhere. */
function reasonFor(reasons: readonly Reason[], error: unknown): Reason | undefined {
  const mark = markOf(error)
  return reasons.find(({ when }) => when.test(mark))
}

export function connectError(location: string, cause: unknown): MusterError {
  const reason = reasonFor([...connecting, ...working], cause)
  return new MusterError({
    what: reason?.what ?? `the warehouse cannot be reached: ${firstLine(cause)}`,
    where: location,
    next: reason?.next ?? 'check the address, and that PostgreSQL runs there',
    cause,
  })
}

/** An error of the server as one of ours where there is something to do about it, else as it is. */
export function statementError(location: string, error: unknown): unknown {
  if (error instanceof MusterError) return error
  const reason = reasonFor(working, error)
  if (!reason) return error
  const detail = reason.when.test('42501') ? `${reason.what}: ${firstLine(error)}` : reason.what
  return new MusterError({ what: detail, where: location, next: reason.next, cause: error })
}
