/** Other names that people type for a command: `muster run nightly` is `muster dag run nightly`. */
import type { CommandSet } from '../command.ts'
import { globalOptions } from './global-options.ts'

/** Where the name of the command stands, -1 for none: options before it, and their values, are passed over. */
export function commandAt(argv: readonly string[]): number {
  const withValue = new Set(globalOptions().flatMap(({ long, required }) => (required && long ? [long] : [])))
  return argv.findIndex((word, index) => !word.startsWith('-') && !withValue.has(argv[index - 1] ?? ''))
}

/** The same line with the declared name in the place of another one. */
export function unaliased(argv: readonly string[], { commands }: CommandSet): readonly string[] {
  const first = commandAt(argv)
  // `muster help run` asks about the same command.
  const at = argv[first] === 'help' ? first + 1 : first
  const found = Object.entries(commands).find(([, { aliases = [] }]) => aliases.includes(argv[at] ?? ''))
  return found ? [...argv.slice(0, at), ...found[0].split(' '), ...argv.slice(at + 1)] : argv
}
