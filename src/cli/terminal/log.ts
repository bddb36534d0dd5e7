/** The log: JSON lines on stderr, without secrets, usually only warnings and errors. */
import { type Logger, pino } from 'pino'
import type { Clock } from '../../lib/clock.ts'

export interface LogSettings {
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
