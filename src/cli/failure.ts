/** Turns a failure into one line for users and an exit code for schedulers. */
import { CommanderError } from 'commander'
import { type ExitStatus, limitBehind, MusterError, StatementInterrupted } from '../lib/errors.ts'

export interface CommandFailure {
  readonly exitCode: ExitStatus
  /** Without a trailing line break; empty when there is nothing to say. */
  readonly text: string
}

/** Commander throws these after it has printed help or version. */
const answeredCodes = new Set(['commander.helpDisplayed', 'commander.version'])

interface FailureContext {
  readonly isVerbose: boolean
  /** An error caused by its abort is reported as the signal to stop. */
  readonly signal: AbortSignal
  /** The command whose usage was wrong, as in `muster dag run`. */
  readonly command?: string
  /** Where the key is read from, for an error about it; undefined where that is not known. */
  keyPlace(): string | undefined
}

export function describeFailure(thrown: unknown, context: FailureContext): CommandFailure {
  const { isVerbose, signal, keyPlace, command = 'muster' } = context
  if (thrown instanceof CommanderError) return usageFailure(thrown, command)
  const isStop = signal.aborted && [thrown, ...causesOf(thrown)].some(one => isDueTo(signal, one))
  const error = isStop ? signal.reason : thrown
  const exitCode = error instanceof MusterError ? error.exitCode : 1
  const message = withPlaceOfKey(messageOf(error), keyPlace)
  const lines = [`muster: ${oneLine(message)}`]
  if (isVerbose) lines.push(...causesOf(error).map(cause => `  because: ${oneLine(nameAndMessage(cause))}`))
  return { exitCode, text: lines.join('\n') }
}

/** Errors about the key end like this because they do not know the settings. */
const placeOfKey = /where apiKey is read from/

/** Replaces that phrase by the file or variable. */
export function withPlaceOfKey(text: string, keyPlace: () => string | undefined): string {
  const place = placeOfKey.test(text) ? keyPlace() : undefined
  return text.replace(placeOfKey, words =>
    place === undefined ? words : `in ${place.replace(/^environment, /, 'the environment variable ')}`,
  )
}

const isDueTo = (signal: AbortSignal, error: unknown): boolean =>
  error === signal.reason || error instanceof StatementInterrupted

function usageFailure(error: CommanderError, command: string): CommandFailure {
  if (answeredCodes.has(error.code)) return { exitCode: 0, text: '' }
  // `muster help`, or help because the command was left out.
  if (error.code === 'commander.help') return { exitCode: error.exitCode === 0 ? 0 : 2, text: '' }
  const what = oneLine(error.message.replace(/^error: /, ''))
  return { exitCode: 2, text: `muster: ${what}${what.endsWith('?') ? '' : ` (see ${command} --help)`}` }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof MusterError) return error.message
  return (
    limitBehind(error)?.message ??
    refusedPath(error) ??
    `unexpected ${error.name}: ${error.message.replace(stackOfDuckdb, '')}`
  )
}

/** Library addresses that DuckDB appends to its internal errors. */
const stackOfDuckdb = /\s*Stack Trace:.*/s

/** Advice for read and write errors, in which the system names no path. */
const nextOf: ReadonlyMap<string, string> = new Map([
  ...['ENOSPC', 'EDQUOT'].map(code => [code, 'free some space and run the command again'] as const),
  ['EIO', 'the disk or its connection is broken: check the system log'],
])

/** Describes a system error on a path that no caller expected, such as a folder that is a file. */
function refusedPath({ message, ...error }: Error): string | undefined {
  const { code, path } = error as NodeJS.ErrnoException
  const [, why] = /^[A-Z0-9]+: ([^,]+), \w+/.exec(message) ?? []
  if (code === undefined || why === undefined) return undefined
  const next = nextOf.get(code) ?? (path && 'check this path, the folders in it and their permissions')
  return next && `${why}${path ? ` (${path})` : ''}: ${next}`
}

/** Causes shown; longer chains are loops or noise. */
const deepest = 10

function causesOf(error: unknown): readonly unknown[] {
  const found: unknown[] = []
  let cause = error instanceof Error ? error.cause : undefined
  while (cause !== undefined && cause !== null && found.length < deepest) {
    found.push(cause)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return found
}

function nameAndMessage(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

function oneLine(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}
