/** Single sentences for people beside the output: lines on stderr, or entries of the log. */
import type { Logger } from 'pino'
import type { Output } from './terminal.ts'
import { showLine } from './wrapped.ts'

interface Noticing {
  readonly stderr: Output
  readonly log: Logger
  readonly globals: { readonly quiet?: boolean; readonly log?: 'lines' | 'json' }
}

export function noticesOf({ stderr, log, globals }: Noticing) {
  const write = (line: string): void => {
    if (!globals.quiet) showLine(stderr, line)
  }
  const isJson = globals.log === 'json'
  return {
    tell: (line: string): void => (isJson ? log.info(line) : write(line)),
    warn: (line: string): void => (isJson ? log.warn(line) : write(`warning: ${line}`)),
  }
}
