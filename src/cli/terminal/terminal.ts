/** Writes to the terminal, and escapes text from outside: it could move the cursor, set colours or reverse letters. */
import { once } from 'node:events'

/** Renders a text for a width. */
export type Renderer = (columns: number) => string

export interface TerminalOutput {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  /** Used instead of `write` by outputs that render at several widths. */
  show?(render: Renderer): unknown
  /** Writes text whose foreign parts are escaped already, and whose colours are ours. */
  styled?(text: string): unknown
  /** Resolves when the reader has caught up. */
  drained?(): Promise<unknown>
}

/**
 * Control and format characters, such as ESC, C1 and those that change the direction of text, and lone surrogates. Line
 * breaks and tabs stay; so do soft hyphens and joiners, which words and emoji need.
 */
const harmful = /(?![\t\n\u{ad}\u{200c}\u{200d}])[\p{Cc}\p{Cf}\p{Cs}\u{2028}\u{2029}]/gu

/** JSON escapes: in a JSON document such characters occur only in strings, so its values stay the same. */
const escapeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

export const escaped = (text: string): string =>
  text.replace(harmful, character => character.split('').map(escapeOf).join(''))

/** Escapes a text into one line, for a table cell or a name in a sentence. */
export const inOneLine = (text: string): string => escaped(text.replace(/\s+/gu, ' '))

/** Files and pipes have no width limit. */
export const widthOf = ({ isTTY = false, columns }: TerminalOutput): number =>
  // A terminal that does not know its width reports 0.
  isTTY ? columns || 80 : Number.POSITIVE_INFINITY

export const show = (stream: TerminalOutput, render: Renderer): unknown =>
  stream.show ? stream.show(render) : stream.write(render(widthOf(stream)))

export const escaping = (stream: TerminalOutput): TerminalOutput => ({
  get isTTY() {
    return stream.isTTY === true
  },
  get columns() {
    return stream.columns || 80
  },
  write: text => stream.write(escaped(text)),
  show: render => show(stream, columns => escaped(render(columns))),
  styled: text => stream.write(text),
  drained: async () => stream.drained?.(),
})

const standardOutput: TerminalOutput = {
  write: text => process.stdout.write(text),
  drained: async () => process.stdout.writableNeedDrain && once(process.stdout, 'drain'),
  get isTTY() {
    return process.stdout.isTTY
  },
  get columns() {
    return process.stdout.columns || 80
  },
  get rows() {
    return process.stdout.rows
  },
}

export const systemStreams = () => ({
  // Opened only when read: an open stdin keeps the process alive.
  stdin: () => process.stdin,
  ...(process.stdout.isTTY && { screen: process.stdout as NodeJS.WritableStream }),
  stdout: standardOutput,
  stderr: process.stderr as TerminalOutput,
})

/** A reader that closes the pipe, as in `muster runs | head`, is not a failure. Output to a full disk is. */
function statusAfter(error: Error): 0 | 1 {
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'EPIPE') return 0
  const what = /^(ENOSPC|EDQUOT|EFBIG)$/.test(code) ? 'its disk is full' : error.message
  lastLine(`the output cannot be written, ${what}: run the command again with its output elsewhere`)
  return 1
}

export function whenOutputFails(leave: (status: 0 | 1) => void): void {
  process.stdout.on('error', error => leave(statusAfter(error)))
  // A closed stderr does not stop the work.
  process.stderr.on('error', () => undefined)
}

/** Writes the last line of a process that ends in the middle of its work. */
export function lastLine(text: string): void {
  process.stderr.write(`muster: ${inOneLine(text)}\n`)
}

/**
 * Calls `next` once everything written to pipes has arrived, with 1 if it could not be written. Without this, a slow reader
 * would get only the 64 KiB that fit into a pipe.
 */
export function afterWriting(next: (failed: 0 | 1) => void): void {
  process.stdout.write('', error => {
    const cause = process.stdout.errored ?? error
    const failed = cause ? statusAfter(cause) : 0
    process.stderr.write('', () => next(failed))
  })
}
