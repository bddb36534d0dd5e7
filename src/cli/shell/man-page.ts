/** The manual page, made from what the help is made of. */
import type { CommandModule, CommandSet } from '../command.ts'
import { exitCodes, globalOptions } from './global-options.ts'

export interface ManParts {
  readonly set: CommandSet
  readonly version: string
  readonly modules: ReadonlyMap<string, CommandModule>
}

/** A dot or an apostrophe would begin a request of roff; a backslash or a hyphen would mean something else. */
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

export function manPage({ set, version, modules }: ManParts): string {
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
