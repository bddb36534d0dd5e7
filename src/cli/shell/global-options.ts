/** The options that every command takes, and the codes that every command ends with. */
import { Option } from 'commander'
import { localPath, oneOf } from '../command.ts'
import type { GlobalOptions } from '../context.ts'

export const exitCodes = `Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a check failed, 75 run again later, 78 settings are wrong.`

/** Completed like a choice of commander, and refused with a suggestion. */
const amongOf = (option: Option, words: readonly string[]): Option =>
  option.choices(words).argParser(oneOf(...words))

export function globalOptions(): readonly Option[] {
  return [
    new Option('--config <file>', 'settings file, instead of config/muster.yaml').argParser(localPath),
    new Option('--connection <name>', 'connection of the settings'),
    new Option('--json', 'one JSON document on stdout; everything else goes to stderr'),
    new Option('--verbose', 'log more, and show the cause of a failure'),
    new Option(
      '--wait <span>',
      'wait so long, as in 90s or 10m, for a warehouse that is held, or a service that is not reached',
    ),
    amongOf(new Option('--color <when>', 'auto, always or never; NO_COLOR is heard'), [
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

/** As they are typed. */
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
