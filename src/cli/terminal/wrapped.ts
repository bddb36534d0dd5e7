/** Sentences on a terminal break between words. */
import wrapAnsi from 'wrap-ansi'
import type { Output } from './terminal.ts'

/** A command that people copy stays in one piece. */
const command = /^ +(muster|npx|npm|node|export|docker) /

function wrappedLine(line: string, width: number): string {
  if (command.test(line)) return line
  const indent = /^ */.exec(line)?.[0] ?? ''
  // Tables are never wider: what is, are sentences. A word that is too long, such as a path, is not cut.
  const room = Math.max(20, width - indent.length)
  return wrapAnsi(line.slice(indent.length), room, { trim: true })
    .split('\n')
    .map(part => indent + part)
    .join('\n')
}

/** Files and pipes have no width. */
export const wrappedFor = ({ isTTY = false, columns = 80 }: Output, text: string): string =>
  isTTY
    ? text
        .split('\n')
        .map(line => (line.length > columns ? wrappedLine(line, columns) : line))
        .join('\n')
    : text
