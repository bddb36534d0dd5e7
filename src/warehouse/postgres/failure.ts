/** Explains in one line why PostgreSQL refused a connection or a statement. */
import { Busy, DiskFull, firstLineOf, MusterError, StatementInterrupted } from '../../lib/errors.ts'

/** The server sent no reply at all: another attempt would wait as long. */
export class ServerSilent extends MusterError {}

interface PostgresReason {
  /** SQLSTATE, or the error code of Node. */
  readonly codes?: RegExp
  /** The message of an error that has no code of its own. */
  readonly words?: RegExp
  /** For an error with one of the codes: the server function that raised it, the same in every language. */
  readonly routine?: RegExp
  /** For an error with one of the codes: its message. */
  readonly message?: RegExp
  readonly what: string
  readonly next: string
  readonly error?: typeof MusterError
}

const connecting: readonly PostgresReason[] = [
  {
    words: /^ssl\w+ names a file that /,
    what: 'a certificate file that the address names cannot be read',
    next: 'check sslrootcert, sslcert and sslkey, and who may read the files',
  },
  {
    codes: /^(ECONNREFUSED|ENOENT)$/,
    what: 'the connection was refused: no server listens there',
    next: 'check host and port, and that PostgreSQL runs and listens on that address',
  },
  { codes: /^(ENOTFOUND|EAI_AGAIN)$/, what: 'the host is not known', next: 'check the name of the host' },
  {
    codes: /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/,
    words: /timeout expired|Promise timed out/,
    what: 'the host does not answer',
    next: 'check host and port, and the firewalls between',
    error: ServerSilent,
  },
  {
    codes: /^28P01$/,
    words: /password must be a string|no password supplied/,
    what: 'the password was refused or is missing',
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
    next: 'leave sslmode out of the address if you trust the network',
  },
  {
    codes: /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|EPROTO/,
    words: /certificate/,
    what: 'the certificate of the server was refused',
    next: 'name the file of its authority with sslrootcert, and write the host as in the certificate',
  },
  { codes: /^53300$/, what: 'the server has no connection left', next: 'close some, or run again later' },
  {
    codes: /^57P03$/,
    what: 'the server is starting or stopping',
    next: 'run again in a moment; if that does not help, its log says why',
  },
]

const working: readonly PostgresReason[] = [
  {
    codes: /^53100$/,
    words: /No space left|Disk quota exceeded/,
    what: 'the disk of the server is full',
    next: 'free some space and run the command again; what was committed is kept',
    error: DiskFull,
  },
  {
    codes: /^(ENOSPC|EDQUOT)$/,
    what: 'the disk of this machine is full: rows are transferred to and from the server as files',
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
    what: 'a statement reached a limit of the server',
    next: 'raise the limit and run again; what was committed is kept',
  },
  {
    // Before the next one, which has the same code for a timeout.
    codes: /^57014$/,
    message: /due to user request/,
    what: 'a statement was cancelled',
    next: 'run again; what was committed is kept',
    error: StatementInterrupted,
  },
  {
    codes: /^57014$/,
    what: 'the server stopped a statement that took too long',
    next: 'run again, or raise statement_timeout of this role; what was committed is kept',
  },
  {
    codes: /^(55P03|40P01)$/,
    what: 'another session holds a lock that this one needs',
    next: 'run again when it is done; what was committed is kept',
    error: Busy,
  },
  {
    codes: /^ESILENT$/,
    what: 'the server has stopped answering: its machine or the network is down',
    next: 'check both, and run again; what was committed is kept',
  },
  {
    codes: /^57P01$/,
    what: 'the connection to the server was lost: its administrator ended it, or the server is stopping',
    next: 'run again once it runs; what was committed is kept',
  },
  {
    codes: /^57P02$/,
    what: 'the connection to the server was lost: another server process crashed',
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

/** Every error line caused by the server, for docs/postgres.md. */
export const failureLines: readonly Pick<PostgresReason, 'what' | 'next'>[] = [...connecting, ...working]

/** Whether a SQLSTATE is specific; classes 58 and XX only say that something went wrong. */
const saysAll = (code: string): boolean => /^(?=.*\d)(?!58|XX)[0-9A-Z]{5}$/.test(code)

/** Reads the message only if the code is not specific: it may quote a value, which could match by chance. */
function isFor(reason: PostgresReason, error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(one => isFor(reason, one))
  const { codes, words } = reason
  const { code, message, routine } = Object(error) as Readonly<Record<string, unknown>>
  const sqlState = typeof code === 'string' ? code : ''
  if (reason.message && !reason.message.test(String(message))) return false
  if (reason.routine && !reason.routine.test(String(routine))) return false
  return (codes?.test(sqlState) ?? false) || (!saysAll(sqlState) && (words?.test(String(message)) ?? false))
}

const reasonFor = (reasons: readonly PostgresReason[], error: unknown): PostgresReason | undefined =>
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

/** A MusterError if the user can do something about the error, else the error itself. */
export function statementError(location: string, error: unknown): unknown {
  if (error instanceof MusterError) return error
  const reason = reasonFor(working, error)
  if (!reason) return error
  const saysMore = ['42501', '53400', '55000'].some(code => reason.codes?.test(code))
  const detail = saysMore ? `${reason.what}: ${firstLineOf(error)}` : reason.what
  const Failure = reason.error ?? MusterError
  return new Failure({ what: detail, where: location, next: reason.next, cause: error })
}
