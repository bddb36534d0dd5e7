/** Wraps sentences between words, and measures how many columns a text takes. */
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { show, type TerminalOutput } from './terminal.ts'

/** Characters that take one column each. */
const oneColumnEach = /^[\x20-\x7e]*$/

/** Measured in pieces: `string-width` is quadratic and blocks for 2 s on 80,000 characters. */
const pieces = /[\s\S]{1,200}/gu

/** A letter of several characters at a piece boundary may count twice; terminals never show texts that long. */
export function textWidth(text: string): number {
  if (oneColumnEach.test(text)) return text.length
  return (text.match(pieces) ?? []).reduce((sum, piece) => sum + stringWidth(piece), 0)
}

/** Commands to copy stay on one line. */
const command = /^ +(muster|npx|npm|node|export|docker) /

const firmSpace = '\u{a0}'
/** Not broken: a command in backticks, or a figure and its unit. */
const together = /`[^`]{1,50}`|\d (?=(?:ms|s|kB|MB|GB|TB|%)(?!\w))/g

const joined = (text: string): string =>
  text.replace(together, words => words.replaceAll(' ', () => firmSpace))

/** The indentation, or where the second column of a list or the text of a numbered step begins. */
function hangOf(line: string, width: number): number {
  const column = /^ *(?:\S+ {2,}|\d+\. )(?=\S)/.exec(line)?.[0].length ?? Number.POSITIVE_INFINITY
  return column <= width / 2 ? column : (/^ */.exec(line)?.[0].length ?? 0)
}

function wrappedLine(line: string, width: number): string {
  if (command.test(line)) return line
  const hang = hangOf(line, width)
  // Only sentences are wider than the terminal, never tables. A long word, such as a path, is not cut.
  const [first = '', ...others] = wrapAnsi(joined(line.slice(hang)), width - hang, { trim: true }).split('\n')
  return [line.slice(0, hang) + first, ...others.map(part => ' '.repeat(hang) + part)]
    .join('\n')
    .replaceAll(firmSpace, ' ')
}

export const wrapped = (text: string, columns: number): string =>
  text
    .split('\n')
    .map(line => (textWidth(line) > columns ? wrappedLine(line, columns) : line))
    .join('\n')

export const showLine = (stream: TerminalOutput, text: string): unknown =>
  show(stream, columns => `${wrapped(text, columns)}\n`)
