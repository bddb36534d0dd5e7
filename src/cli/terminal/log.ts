/** Writes the log, as JSON lines on stderr without secrets, and notices for users, as lines on stderr or log entries. */
import { type Logger, pino } from 'pino'
import type { Clock } from '../../lib/clock.ts'
import type { TerminalOutput } from './terminal.ts'
import { showLine } from './wrapped.ts'

interface LogSettings {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly clock: Clock
  /** Writes one line, with known secrets hidden by their text. */
  readonly write: (line: string) => void
}

/** Keys whose value is always hidden; known secrets are also hidden by their text. */
const secretKeys = ['apiKey', 'authorization', 'Authorization', 'secret', 'password', 'token', 'uploadToken']

export function createLog({ level, clock, write }: LogSettings): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
      redact: { paths: secretKeys.flatMap(key => [key, `*.${key}`, `*.*.${key}`]), censor: '[secret]' },
    },
    { write },
  )
}

interface NoticeContext {
  readonly stderr: TerminalOutput
  readonly log: Logger
  readonly globals: { readonly quiet?: boolean; readonly log?: 'lines' | 'json' }
}

export function noticesOf({ stderr, log, globals }: NoticeContext) {
  const write = (line: string): void => {
    if (!globals.quiet) showLine(stderr, line)
  }
  const isJson = globals.log === 'json'
  return {
    notify: (line: string): void => (isJson ? log.info(line) : write(line)),
    warn: (line: string): void => (isJson ? log.warn(line) : write(`warning: ${line}`)),
  }
}
