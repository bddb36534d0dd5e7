/** Declares the options and exit codes of all commands, and resolves aliases. */

import { Option } from 'commander'
import { type CommandSet, localPath, oneOf } from '../command.ts'
import type { GlobalOptions } from '../context.ts'

export const exitCodes = `Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a check failed, 75 run again later, 78 settings are wrong.`

/** Like a commander choice, but suggests the nearest word when it rejects one. */
const amongOf = (option: Option, words: readonly string[]): Option =>
  option.choices(words).argParser(oneOf(...words))

export function globalOptions(): readonly Option[] {
  return [
    new Option('--config <file>', 'settings file, instead of config/muster.yaml').argParser(localPath),
    new Option('--connection <name>', 'name of a connection in the settings'),
    new Option('--json', 'one JSON document on stdout; everything else goes to stderr'),
    new Option('--verbose', 'log more, and show the cause of a failure'),
    new Option(
      '--wait <span>',
      'how long to wait, as in 90s or 10m, for a locked warehouse or an unreachable service',
    ),
    amongOf(new Option('--color <when>', 'auto, always or never; respects NO_COLOR'), [
      'auto',
      'always',
      'never',
    ]),
    amongOf(new Option('--log <format>', 'lines, or json for each event as a JSON line on stderr'), [
      'lines',
      'json',
    ]),
    new Option('--quiet', 'no progress and no warnings').conflicts('verbose'),
  ]
}

/** Formats the options as they are typed. */
export function asFlags(globals: GlobalOptions): readonly string[] {
  return Object.entries(globals).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [`--${name}`, value]
      : typeof value === 'number'
        ? [`--${name}`, `${Math.ceil(value / 1000)}s`]
        : value === true
          ? [`--${name}`]
          : [],
  )
}

/** Index of the command's name, or -1; skips options before it and their values. */
export function commandAt(argv: readonly string[]): number {
  const withValue = new Set(globalOptions().flatMap(({ long, required }) => (required && long ? [long] : [])))
  return argv.findIndex((word, index) => !word.startsWith('-') && !withValue.has(argv[index - 1] ?? ''))
}

/** Replaces an alias by the declared name: `muster run nightly` becomes `muster dag run nightly`. */
export function unaliased(argv: readonly string[], { commands }: CommandSet): readonly string[] {
  const first = commandAt(argv)
  // `muster help run` asks about the same command.
  const at = argv[first] === 'help' ? first + 1 : first
  const found = Object.entries(commands).find(([, { aliases = [] }]) => aliases.includes(argv[at] ?? ''))
  return found ? [...argv.slice(0, at), ...found[0].split(' '), ...argv.slice(at + 1)] : argv
}
