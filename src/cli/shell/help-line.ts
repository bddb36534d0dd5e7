/** Ways to ask for help: each is `--help` after the command that is meant. */
import type { CommandSet } from '../command.ts'
import { commandAt } from './aliases.ts'

const helpOptions = new Set(['--help', '-h'])

/** The first words that are no options: `dag` and `run` of `--quiet dag --json run nightly`. */
function commandWords(argv: readonly string[]): readonly string[] {
  const at = commandAt(argv)
  return at < 0 ? [] : [argv[at] ?? '', ...commandWords(argv.slice(at + 1))]
}

/**
 * `dag run --help` for `help dag run`, `dag help run` and the like. Where there is no such command the name stands alone: the
 * program says so, and which one is like it.
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
