/** The log: JSON lines on stderr, quiet unless something is wrong, never with a secret in them. */
import { type Logger, pino } from 'pino'
import type { Clock } from '../../lib/clock.ts'

export interface LogSettings {
  readonly level: 'debug' | 'warn' | 'error'
  readonly clock: Clock
  /** Takes one line; hides secrets by their text before it shows them. */
  readonly write: (line: string) => void
}

/** Keys whose value is hidden whatever it is; known secrets are hidden by their text as well. */
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
