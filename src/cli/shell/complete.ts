/** Completes a command line that is being typed, and holds the scripts with which shells ask for it. */
import type {
  ArgumentDeclaration,
  CommandModule,
  CommandSet,
  CompletionKind,
  OptionDeclaration,
} from '../command.ts'
import type { CommandContext } from '../context.ts'
import { globalOptions } from './global-options.ts'
import { commandsOf } from './load-commands.ts'

type NamesReader = (context: CommandContext) => Promise<readonly string[]>

const readers: Readonly<Record<CompletionKind, NamesReader>> = {
  resource: async () => (await import('../../contract/catalogue.ts')).catalogue.map(({ name }) => name),
  list: async () => (await import('../../contract/catalogue.ts')).collections.map(({ name }) => name),
  mart: async () => (await import('../../marts/mart.ts')).readMarts().map(({ name }) => name),
  check: async () => {
    const [{ everyCheck }, { readMarts }] = await Promise.all([
      import('../../marts/checks/gate.ts'),
      import('../../marts/mart.ts'),
    ])
    return everyCheck(readMarts()).map(({ name }) => name)
  },
  dag: async ({ cwd }) => (await import('../../app/dag/dag-file.ts')).dagNames(cwd),
  connection: async context =>
    context.hasSettings() ? [...context.storedSettings().connections.keys()] : [],
}

/** Names that complete an argument. None if settings are wrong or missing: no error may interrupt a command line. */
export async function namesOf(kind: CompletionKind, context: CommandContext): Promise<readonly string[]> {
  try {
    return await readers[kind](context)
  } catch {
    // The command itself will report what is wrong with the settings or the DAGs.
    return []
  }
}

interface Completion {
  readonly word: string
  readonly summary: string
}

/** Tells the shell to complete file names itself. */
const filesWanted = ':files'

interface CompletableOption {
  readonly flags: string
  readonly summary: string
  readonly choices?: readonly string[]
  readonly completes?: OptionDeclaration['completes']
}

const everywhere = (): CompletableOption[] =>
  globalOptions().map(({ flags, description, argChoices }) => ({
    flags,
    summary: description,
    ...(argChoices && { choices: argChoices }),
    ...(flags.startsWith('--connection') && { completes: 'connection' as const }),
  }))

function ofModule({ options = [], takesAll }: CommandModule): CompletableOption[] {
  const own = options.map(({ flags, summary, parse, completes }) => ({
    flags,
    summary,
    ...(parse && 'words' in parse && { choices: parse.words as readonly string[] }),
    ...(completes && { completes }),
  }))
  return takesAll ? [...own, { flags: '--all', summary: 'run for every connection in the settings' }] : own
}

const longName = ({ flags }: CompletableOption): string => /--[\w-]+/.exec(flags)?.[0] ?? flags
const takesValue = ({ flags }: CompletableOption): boolean => flags.includes('<')

const plain = (words: readonly string[]): Completion[] => words.map(word => ({ word, summary: '' }))
const asCandidates = (options: readonly CompletableOption[]): Completion[] =>
  options.map(option => ({ word: longName(option), summary: option.summary }))

/** The words without options and their values. */
function withoutOptions(words: readonly string[], options: readonly CompletableOption[]): string[] {
  return words.filter((word, index) => {
    const before = options.find(option => longName(option) === words[index - 1])
    return !word.startsWith('-') && !(before && takesValue(before))
  })
}

/** Names of commands and groups that begin with the typed words. */
function commandWords({ commands, groups }: CommandSet, typed: readonly string[]): Completion[] {
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
  { choices, completes, flags }: CompletableOption,
  context: CommandContext,
): Promise<Completion[]> {
  if (choices) return plain(choices)
  if (completes) return plain(await namesOf(completes, context))
  return /<(file|folder|warehouse)>/.test(flags) ? plain([filesWanted]) : []
}

function argumentAt(module: CommandModule, index: number): ArgumentDeclaration | undefined {
  const declared = module.arguments ?? []
  const last = declared.at(-1)
  return declared[index] ?? (last?.name.includes('...') ? last : undefined)
}

async function argumentValues(argument: ArgumentDeclaration, context: CommandContext): Promise<Completion[]> {
  if (argument.choices) return plain(argument.choices)
  if (argument.completes) return plain(await namesOf(argument.completes, context))
  return /file/.test(argument.name) ? plain([filesWanted]) : []
}

/** `words` follow the name of the program; the last of them is being typed and may be empty. */
export async function candidates(words: readonly string[], context: CommandContext): Promise<Completion[]> {
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

  async function ofWords(): Promise<Completion[]> {
    if (name === undefined || !declared || isHelp) return commandWords(set, line)
    const { command } = await declared.load()
    const given = withoutOptions(typed, options).slice(name.split(' ').length)
    const argument = argumentAt(command, given.length)
    const names = argument ? await argumentValues(argument, context) : []
    return names.filter(({ word }) => !given.includes(word))
  }
}

interface TypedLine {
  readonly options: readonly CompletableOption[]
  readonly typed: readonly string[]
  readonly current: string
}

/** Undefined if neither an option nor its value is being typed. */
async function ofOptions(
  { options, typed, current }: TypedLine,
  context: CommandContext,
): Promise<Completion[] | undefined> {
  const before = options.find(option => longName(option) === typed.at(-1))
  if (before && takesValue(before)) return values(before, context)
  return current.startsWith('-') ? asCandidates(options) : undefined
}

const bash = `# bash completion for muster: eval "$(muster completion bash)"
_muster() {
  local line words=() current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do words+=("\${line%%$'\\t'*}"); done < <(
    "\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
  )
  if [[ "\${words[0]-}" == '${filesWanted}' ]]; then
    compopt -o default
    return
  fi
  COMPREPLY=("\${words[@]}")
}
complete -F _muster muster
`

const zsh = `#compdef muster
# zsh completion for muster: eval "$(muster completion zsh)", after compinit
_muster() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if [[ "\${found[1]-}" == *files:* ]]; then
    _files
  else
    _describe muster found
  fi
}
if [[ "\${funcstack[1]-}" == _muster ]]; then
  _muster "$@"
else
  compdef _muster muster
fi
`

const fish = `# fish completion for muster: muster completion fish > ~/.config/fish/completions/muster.fish
function __muster_candidates
  set --local found (muster completion words -- (commandline --tokenize --cut-at-cursor)[2..] (commandline --current-token --cut-at-cursor) 2>/dev/null)
  if string match --quiet -- '${filesWanted}*' $found[1]
    __fish_complete_path (commandline --current-token --cut-at-cursor)
  else
    printf '%s\\n' $found
  end
end
complete --command muster --no-files --arguments '(__muster_candidates)'
`

/** Each script calls `muster completion words`. */
export const scripts: Readonly<Record<string, string>> = { bash, zsh, fish }
