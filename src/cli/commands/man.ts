/** `muster man`: prints the manual page. */

import { programVersion } from '../../lib/package.ts'
import type { CommandModule, CommandSet } from '../command.ts'
import { exitCodes, globalOptions } from '../shell/global-options.ts'
import { commandsOf } from '../shell/load-commands.ts'

interface ManParts {
  readonly set: CommandSet
  readonly version: string
  readonly modules: ReadonlyMap<string, CommandModule>
}

/** Escapes roff: a leading dot or apostrophe begins a request; a backslash or hyphen has another meaning. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')

const item = (term: string, text: string): string => `.TP\n\\fB${escaped(term)}\\fR\n${escaped(text)}`

function ofCommand(name: string, summary: string, module: CommandModule): string {
  const { arguments: args = [], options = [], examples, notes = [] } = module
  const synopsis = [
    'muster',
    name,
    ...(options.length > 0 ? ['[options]'] : []),
    ...args.map(one => one.name),
  ]
  return [
    `.SS ${escaped(name)}`,
    escaped(summary),
    `.PP\n\\fB${escaped(synopsis.join(' '))}\\fR`,
    ...args.map(one => item(one.name, one.summary)),
    ...options.map(one => item(one.flags, one.summary)),
    ...(notes.length > 0 ? ['.PP', ...notes.map(escaped)] : []),
    '.PP\nExamples:\n.nf',
    ...examples.map(example => escaped(`  ${example}`)),
    '.fi',
  ].join('\n')
}

/** Built from the same declarations as the help. */
function manPage({ set, version, modules }: ManParts): string {
  const purposes = [...new Set(Object.values(set.commands).map(({ purpose }) => purpose))]
  const sections = purposes.flatMap(purpose => [
    `.SH ${escaped(purpose.toUpperCase())}`,
    ...Object.entries(set.commands).flatMap(([name, declared]) => {
      const module = modules.get(name)
      return declared.purpose === purpose && module ? [ofCommand(name, declared.summary, module)] : []
    }),
  ])
  return [
    `.TH MUSTER 1 "" "muster ${version}" "User Commands"`,
    '.SH NAME\nmuster \\- keeps an analytics warehouse in step with a Workforce and Programme Data API',
    '.SH SYNOPSIS\n\\fBmuster\\fR [\\fIoptions\\fR] \\fIcommand\\fR',
    '.SH OPTIONS',
    ...globalOptions().map(({ flags, description }) => item(flags, description)),
    ...sections,
    `.SH EXIT STATUS\n${escaped(exitCodes)}`,
    '',
  ].join('\n')
}

export const command: CommandModule = {
  notes: [
    '`npm install --global`, also with --prefix, puts it where `man muster` finds it. After a local installation, run `muster man > muster.1` and `man ./muster.1`.',
  ],
  examples: ['muster man'],
  run: async context => {
    const set = commandsOf(context)
    const modules = await Promise.all(
      Object.entries(set.commands).map(async ([name, { load }]) => [name, (await load()).command] as const),
    )
    context.stdout.write(manPage({ set, version: programVersion, modules: new Map(modules) }))
    return 0
  },
}
