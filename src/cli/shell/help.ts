/** Builds the help: recognises requests for it, formats notes, and suggests names for unknown words. */
import type { Command, CommanderError } from 'commander'
import { nearest } from '../../lib/text/nearest.ts'
import type { CommandModule, CommandSet } from '../command.ts'
import { wrapped } from '../terminal/wrapped.ts'
import { commandAt, globalOptions } from './global-options.ts'

const helpOptions = new Set(['--help', '-h'])

/** The first words that are not options: `dag` and `run` of `--quiet dag --json run nightly`. */
function commandWords(argv: readonly string[]): readonly string[] {
  const at = commandAt(argv)
  return at < 0 ? [] : [argv[at] ?? '', ...commandWords(argv.slice(at + 1))]
}

/**
 * Turns `help dag run`, `dag help run` and the like into `dag run --help`. For an unknown command it leaves the name alone:
 * the program then reports it and suggests a similar one.
 */
export function asHelpOption(argv: readonly string[], { commands }: CommandSet): readonly string[] {
  const words = commandWords(argv)
  const isAsked = words.slice(0, 2).includes('help') || argv.some(word => helpOptions.has(word))
  const names = Object.keys(commands).map(name => name.split(' '))
  const [first, second] = words.filter(word => word !== 'help')
  if (!isAsked || first === undefined) return isAsked ? ['--help'] : argv
  const parts = names.filter(([group]) => group === first)
  if (parts.length === 0) return [first]
  const isGroup = parts.some(([, part]) => part !== undefined)
  if (!isGroup || second === undefined) return words[0] === 'help' || isGroup ? [first, '--help'] : argv
  return parts.some(([, part]) => part === second) ? [first, second, '--help'] : [first, second]
}

/** Joins lines of sentences into one paragraph; indented lines, as in a list, stay lines. */
const paragraphs = (lines: readonly string[]): string => lines.join('\n').replace(/(?<=^\S.*)\n(?=\S)/gm, ' ')

/** The text after the options in a command's `--help`. */
export function helpAfter(
  { notes, examples }: CommandModule,
  aliases: readonly string[],
  columns: number,
): string {
  const notesText = notes ? `\n${paragraphs(notes)}\n` : ''
  const also = aliases.length > 0 ? `\nAlso: ${aliases.map(alias => `muster ${alias}`).join(', ')}\n` : ''
  const shown = examples.map(example => `  $ ${example}`).join('\n')
  return `${wrapped(`${notesText}${also}`, columns)}\nExamples:\n${shown}`
}

/** Adds to the error the command or option that was probably meant. */
export function suggesting(error: CommanderError, command: Command): CommanderError {
  const [, kind, typed = ''] = /^error: unknown (command|option) '-*(.*)'$/s.exec(error.message) ?? []
  if (kind === undefined) return error
  const options = [...command.options, ...globalOptions()].flatMap(({ long }) => long?.slice(2) ?? [])
  const found = nearest(typed, kind === 'option' ? options : command.commands.map(one => one.name()))
  if (found !== undefined) error.message += `, did you mean ${kind === 'option' ? '--' : ''}${found}?`
  return error
}
