/** The one place that writes to the terminal. Foreign text could move its cursor, colour it or turn its letters around. */
import { once } from 'node:events'

/** What is shown depends on the width of the place. */
export type Rendered = (columns: number) => string

export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  /** Takes what can be shown at any width, instead of `write`, for those who keep it at several. */
  show?(render: Rendered): unknown
  /** Writes text whose foreign parts are escaped already, and whose colours are ours. */
  styled?(text: string): unknown
  /** Resolves when the reader has taken enough of what was written. */
  drained?(): Promise<unknown>
}

/**
 * Control and format characters, such as ESC, C1 and those that turn the direction of text, and halves of characters. Line
 * breaks and tabs stay; so do soft hyphens and joiners, which words and emoji need.
 */
const harmful = /(?![\t\n\u{ad}\u{200c}\u{200d}])[\p{Cc}\p{Cf}\p{Cs}\u{2028}\u{2029}]/gu

/** The escapes of JSON, where such characters only occur within texts: a document keeps its values. */
const escapeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

export const escaped = (text: string): string =>
  text.replace(harmful, character => character.split('').map(escapeOf).join(''))

/** In one line, for a cell of a table or a name in a sentence. */
export const inOneLine = (text: string): string => escaped(text.replace(/\s+/gu, ' '))

/** Files and pipes have no width: what reads them gets everything. */
export const widthOf = ({ isTTY = false, columns }: Output): number =>
  // A terminal that does not know its width says 0.
  isTTY ? columns || 80 : Number.POSITIVE_INFINITY

export const show = (stream: Output, render: Rendered): unknown =>
  stream.show ? stream.show(render) : stream.write(render(widthOf(stream)))

export const escaping = (stream: Output): Output => ({
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

const standardOutput: Output = {
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
  // Opened only by who reads it: an open one keeps the process alive.
  stdin: () => process.stdin,
  ...(process.stdout.isTTY && { screen: process.stdout as NodeJS.WritableStream }),
  stdout: standardOutput,
  stderr: process.stderr as Output,
})

/** A reader can go away, as in `muster runs | head`: that is no failure. Whoever asked for output into a full disk has none. */
function statusAfter(error: Error): 0 | 1 {
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'EPIPE') return 0
  const what = /^(ENOSPC|EDQUOT|EFBIG)$/.test(code) ? 'its disk is full' : error.message
  lastLine(`the output cannot be written, ${what}: run the command again with its output to another place`)
  return 1
}

export function whenOutputFails(leave: (status: 0 | 1) => void): void {
  process.stdout.on('error', error => leave(statusAfter(error)))
  // Whoever stops reading what is told beside the output does not stop the work.
  process.stderr.on('error', () => undefined)
}

/** The last line of a process that ends in the middle of its work. */
export function lastLine(text: string): void {
  process.stderr.write(`muster: ${inOneLine(text)}\n`)
}

/**
 * Calls `next` once everything written to pipes has arrived, with 1 when the output could not be written: a reader that is slow
 * would else get no more than a pipe holds, 64 KiB.
 */
export function afterWriting(next: (failed: 0 | 1) => void): void {
  process.stdout.write('', error => {
    const cause = process.stdout.errored ?? error
    const failed = cause ? statusAfter(cause) : 0
    process.stderr.write('', () => next(failed))
  })
}
