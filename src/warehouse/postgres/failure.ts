/** Explains in one line why PostgreSQL refused a connection or a statement. */
import { Busy, DiskFull, firstLineOf, Interrupted, MusterError } from '../../lib/errors.ts'

/** Nothing came back at all: the next attempt would wait as long. */
export class Unanswered extends MusterError {}

interface Reason {
  /** SQLSTATE, or the error code of Node. */
  readonly codes?: RegExp
  /** The message of an error that has no code of its own. */
  readonly words?: RegExp
  /** Of an error with one of the codes: the function of the server that raised it, in any language. */
  readonly routine?: RegExp
  /** Of an error with one of the codes: its message. */
  readonly message?: RegExp
  readonly what: string
  readonly next: string
  readonly error?: typeof MusterError
}

const connecting: readonly Reason[] = [
  {
    words: /^ssl\w+ names a file that /,
    what: 'a certificate file that the address names cannot be read',
    next: 'check sslrootcert, sslcert and sslkey, and who may read the files',
  },
  {
    codes: /^(ECONNREFUSED|ENOENT)$/,
    what: 'nothing listens there: the connection was refused',
    next: 'check host and port, and that PostgreSQL runs and listens on that address',
  },
  { codes: /^(ENOTFOUND|EAI_AGAIN)$/, what: 'the host is not known', next: 'check the name of the host' },
  {
    codes: /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    words: /timeout expired|Promise timed out/,
    what: 'the host does not answer',
    next: 'check host and port, and the firewalls between',
    error: Unanswered,
  },
  {
    codes: /^28P01$/,
    words: /password must be a string|no password supplied/,
    what: 'the password was refused, or there is none',
    next: 'set it in the address through a variable, or in PGPASSWORD or ~/.pgpass',
  },
  {
    codes: /^3D000$/,
    what: 'there is no such database',
    next: 'create it, or correct the name at the end of the address',
  },
  {
    codes: /^28000$/,
    what: 'the server does not let this user in',
    next: 'check the user, pg_hba.conf of the server, and whether it asks for TLS (sslmode=require)',
  },
  {
    words: /does not support SSL/,
    what: 'the server has no TLS',
    next: 'leave sslmode out of the address if the network between is yours',
  },
  {
    codes: /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|EPROTO/,
    words: /certificate/,
    what: 'the certificate of the server was refused',
    next: 'name the file of its authority with sslrootcert, and the host as the certificate does',
  },
  { codes: /^53300$/, what: 'the server has no connection left', next: 'close some, or run again later' },
  {
    codes: /^57P03$/,
    what: 'the server is starting or stopping',
    next: 'run again in a moment; if it stays so, its log says why',
  },
]

const working: readonly Reason[] = [
  {
    codes: /^53100$/,
    words: /No space left|Disk quota exceeded/,
    what: 'the disk of the server is full',
    next: 'free some space and run the command again; what was committed is kept',
    error: DiskFull,
  },
  {
    codes: /^(ENOSPC|EDQUOT)$/,
    what: 'the disk of this machine is full: rows are on their way between it and the server as files',
    next: 'free some space beside the landed pages and run the command again; what was committed is kept',
    error: DiskFull,
  },
  {
    codes: /^53200$/,
    what: 'the server has no memory left for a statement',
    next: 'give it more, or less to others, and run again; what was committed is kept',
  },
  {
    codes: /^53(000|400)$/,
    what: 'a statement came to a limit of the server',
    next: 'raise the limit and run again; what was committed is kept',
  },
  {
    // Its code is that of a timeout as well, which comes next.
    codes: /^57014$/,
    message: /due to user request/,
    what: 'a statement was cancelled',
    next: 'run again; what was committed is kept',
    error: Interrupted,
  },
  {
    codes: /^57014$/,
    what: 'the server stopped a statement that took too long',
    next: 'run again, or raise statement_timeout of this role; what was committed is kept',
  },
  {
    codes: /^(55P03|40P01)$/,
    what: 'another session holds what this one needs',
    next: 'run again when it is done; what was committed is kept',
    error: Busy,
  },
  {
    codes: /^ESILENT$/,
    what: 'the server has stopped answering: its machine is gone, or the network between',
    next: 'check both, and run again; what was committed is kept',
  },
  {
    codes: /^57P01$/,
    what: 'the connection to the server was lost: its administrator ended it, or the server is stopping',
    next: 'run again once it runs; what was committed is kept',
  },
  {
    codes: /^57P02$/,
    what: 'the connection to the server was lost: another process of it crashed',
    next: 'run again once it has recovered, and read its log; what was committed is kept',
  },
  {
    codes:
      /^(57P0[45]|25P03|08\w{3}|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_STREAM_PREMATURE_CLOSE)$/,
    words: /Connection terminated|not queryable|Client was closed/,
    what: 'the connection to the server was lost',
    next: 'run again; what was committed is kept',
  },
  {
    codes: /^(55000|42P10)$/,
    routine: /^CheckCmdReplicaIdentity$/,
    what: 'a publication refuses changes of a table of the warehouse',
    next: 'alter table … replica identity full, or leave the table out of the publication; what was committed is kept',
  },
  {
    codes: /^42501$/,
    what: 'this user may not do that',
    next: 'grant it what it needs, or connect as another user',
  },
  {
    codes: /^25006$/,
    what: 'the server takes no changes: it is a standby, or read-only',
    next: 'name the primary in the address, or reset default_transaction_read_only of the database or role',
  },
]

/** Every line that a command can end with because of the server, for docs/postgres-failures.md. */
export const failureLines: readonly Pick<Reason, 'what' | 'next'>[] = [...connecting, ...working]

/** SQLSTATE of five digits and letters; of class 58 and XX it says no more than that something went wrong. */
const saysAll = (code: string): boolean => /^(?=.*\d)(?!58|XX)[0-9A-Z]{5}$/.test(code)

/** The message counts only where the code says nothing: it may quote a value, which could match by chance. */
function isFor(reason: Reason, error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(one => isFor(reason, one))
  const { codes, words } = reason
  const { code, message, routine } = Object(error) as Readonly<Record<string, unknown>>
  const sqlState = typeof code === 'string' ? code : ''
  if (reason.message && !reason.message.test(String(message))) return false
  if (reason.routine && !reason.routine.test(String(routine))) return false
  return (codes?.test(sqlState) ?? false) || (!saysAll(sqlState) && (words?.test(String(message)) ?? false))
}

const reasonFor = (reasons: readonly Reason[], error: unknown): Reason | undefined =>
  reasons.find(reason => isFor(reason, error))

export function connectError(location: string, cause: unknown): MusterError {
  if (cause instanceof MusterError) return cause
  const reason = reasonFor([...connecting, ...working], cause)
  const Failure = reason?.error ?? MusterError
  return new Failure({
    what: reason?.what ?? `the warehouse cannot be reached: ${firstLineOf(cause)}`,
    where: location,
    next: reason?.next ?? 'check the address, and that PostgreSQL runs there',
    cause,
  })
}

/** A MusterError where the user can do something about the error, else the error itself. */
export function statementError(location: string, error: unknown): unknown {
  if (error instanceof MusterError) return error
  const reason = reasonFor(working, error)
  if (!reason) return error
  const saysMore = ['42501', '53400', '55000'].some(code => reason.codes?.test(code))
  const detail = saysMore ? `${reason.what}: ${firstLineOf(error)}` : reason.what
  const Failure = reason.error ?? MusterError
  return new Failure({ what: detail, where: location, next: reason.next, cause: error })
}
