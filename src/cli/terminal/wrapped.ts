/** Sentences on a terminal break between words. */
import wrapAnsi from 'wrap-ansi'
import { type Output, show } from './terminal.ts'
import { textWidth } from './text-width.ts'

/** A command that people copy stays in one piece. */
const command = /^ +(muster|npx|npm|node|export|docker) /

const firmSpace = '\u{a0}'
/** What is not parted: a command between backticks, and a figure from its unit. */
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
  // Tables are never wider: what is, are sentences. A word that is too long, such as a path, is not cut.
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

export const showLine = (stream: Output, text: string): unknown =>
  show(stream, columns => `${wrapped(text, columns)}\n`)
