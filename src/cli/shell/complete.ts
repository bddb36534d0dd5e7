/** What may come next on a command line that is being typed. */
import type { ArgumentDeclaration, CommandModule, CommandSet, OptionDeclaration } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { globalOptions } from './global-options.ts'
import { commandsOf } from './load-commands.ts'
import { namesOf } from './names.ts'

export interface Candidate {
  readonly word: string
  readonly summary: string
}

/** Stands for the names of files, which shells complete themselves. */
export const filesWanted = ':files'

interface Choosing {
  readonly flags: string
  readonly summary: string
  readonly choices?: readonly string[]
  readonly completes?: OptionDeclaration['completes']
}

const everywhere = (): Choosing[] =>
  globalOptions().map(({ flags, description, argChoices }) => ({
    flags,
    summary: description,
    ...(argChoices && { choices: argChoices }),
    ...(flags.startsWith('--connection') && { completes: 'connection' as const }),
  }))

function ofModule({ options = [], takesAll }: CommandModule): Choosing[] {
  const own = options.map(({ flags, summary, parse, completes }) => ({
    flags,
    summary,
    ...(parse && 'words' in parse && { choices: parse.words as readonly string[] }),
    ...(completes && { completes }),
  }))
  return takesAll ? [...own, { flags: '--all', summary: 'for every connection of the settings' }] : own
}

const longName = ({ flags }: Choosing): string => /--[\w-]+/.exec(flags)?.[0] ?? flags
const takesValue = ({ flags }: Choosing): boolean => flags.includes('<')

const plain = (words: readonly string[]): Candidate[] => words.map(word => ({ word, summary: '' }))
const asCandidates = (options: readonly Choosing[]): Candidate[] =>
  options.map(option => ({ word: longName(option), summary: option.summary }))

/** The words of the command, and how many arguments follow them; options and their values left out. */
function withoutOptions(words: readonly string[], options: readonly Choosing[]): string[] {
  return words.filter((word, index) => {
    const before = options.find(option => longName(option) === words[index - 1])
    return !word.startsWith('-') && !(before && takesValue(before))
  })
}

/** Names of commands and groups that begin so. */
function commandWords({ commands, groups }: CommandSet, typed: readonly string[]): Candidate[] {
  const [group] = typed
  if (group !== undefined)
    return Object.entries(commands)
      .filter(([name]) => name.startsWith(`${group} `))
      .map(([name, { summary }]) => ({ word: name.split(' ')[1] ?? '', summary }))
  const single = Object.entries(commands).filter(([name]) => !name.includes(' '))
  return [
    ...single.map(([word, { summary }]) => ({ word, summary })),
    ...Object.entries(groups).map(([word, summary]) => ({ word, summary })),
    { word: 'help', summary: 'display help for a command' },
  ]
}

async function values(
  { choices, completes, flags }: Choosing,
  context: CommandContext,
): Promise<Candidate[]> {
  if (choices) return plain(choices)
  if (completes) return plain(await namesOf(completes, context))
  return /<(file|folder|warehouse)>/.test(flags) ? plain([filesWanted]) : []
}

function argumentAt(module: CommandModule, index: number): ArgumentDeclaration | undefined {
  const declared = module.arguments ?? []
  const last = declared.at(-1)
  return declared[index] ?? (last?.name.includes('...') ? last : undefined)
}

async function argumentValues(argument: ArgumentDeclaration, context: CommandContext): Promise<Candidate[]> {
  if (argument.choices) return plain(argument.choices)
  if (argument.completes) return plain(await namesOf(argument.completes, context))
  return /file/.test(argument.name) ? plain([filesWanted]) : []
}

/** `words` follow the name of the program; the last of them is being typed and may be empty. */
export async function candidates(words: readonly string[], context: CommandContext): Promise<Candidate[]> {
  const set = commandsOf(context)
  const [typed, current = ''] = [words.slice(0, -1), words.at(-1) ?? '']
  const global = everywhere()
  const named = withoutOptions(typed, global)
  const isHelp = named[0] === 'help'
  const line = isHelp ? named.slice(1) : named
  const name = [line.slice(0, 2).join(' '), line[0] ?? ''].find(one => Object.hasOwn(set.commands, one))
  const declared = name === undefined ? undefined : set.commands[name]
  const options = declared && !isHelp ? [...ofModule((await declared.load()).command), ...global] : global
  const found = (await ofOptions({ options, typed, current }, context)) ?? (await ofWords())
  return found.filter(({ word }) => word === filesWanted || word.startsWith(current))

  async function ofWords(): Promise<Candidate[]> {
    if (name === undefined || !declared || isHelp) return commandWords(set, line)
    const { command } = await declared.load()
    const given = withoutOptions(typed, options).slice(name.split(' ').length)
    const argument = argumentAt(command, given.length)
    const names = argument ? await argumentValues(argument, context) : []
    return names.filter(({ word }) => !given.includes(word))
  }
}

interface Typing {
  readonly options: readonly Choosing[]
  readonly typed: readonly string[]
  readonly current: string
}

/** Undefined where neither an option nor the value of one is being typed. */
async function ofOptions(
  { options, typed, current }: Typing,
  context: CommandContext,
): Promise<Candidate[] | undefined> {
  const before = options.find(option => longName(option) === typed.at(-1))
  if (before && takesValue(before)) return values(before, context)
  return current.startsWith('-') ? asCandidates(options) : undefined
}
