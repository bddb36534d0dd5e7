/** What `--help` of a command shows after its options. */
import type { CommandModule } from '../command.ts'
import { wrapped } from '../terminal/wrapped.ts'

/** Lines of sentences are one paragraph; indented ones, as of a list, stay lines. */
const paragraphs = (lines: readonly string[]): string => lines.join('\n').replace(/(?<=^\S.*)\n(?=\S)/gm, ' ')

export function helpAfter(
  { notes, examples }: CommandModule,
  aliases: readonly string[],
  columns: number,
): string {
  const told = notes ? `\n${paragraphs(notes)}\n` : ''
  const also = aliases.length > 0 ? `\nAlso: ${aliases.map(alias => `muster ${alias}`).join(', ')}\n` : ''
  const shown = examples.map(example => `  $ ${example}`).join('\n')
  return `${wrapped(`${told}${also}`, columns)}\nExamples:\n${shown}`
}
