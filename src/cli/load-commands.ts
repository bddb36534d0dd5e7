/** Which commands a command line can mean: no others are loaded, as each brings libraries that only it needs. */
import type { CommandModule } from './command.ts'

type CommandLoaders = Readonly<Record<string, () => Promise<{ readonly command: CommandModule }>>>

export interface CommandSet {
  /** By name, in the order of the help. */
  readonly loaders: CommandLoaders
  /** What the groups (`dag`) are for. */
  readonly groups: Readonly<Record<string, string>>
}

/** What stands behind one of these is its value, and no command. */
const takingValues = ['--config', '--connection']

/** With every word of the line that could be a command; all where none is, for the help and to suggest one. */
function namesIn(argv: readonly string[], names: readonly string[]): readonly string[] {
  const words = argv.filter((_, index) => !takingValues.includes(argv[index - 1] ?? ''))
  const meant = names.filter(name => words.includes(name.split(' ')[0] ?? name))
  if (meant.length > 0 && !words.includes('help')) return meant
  return words.includes('--version') ? [] : names
}

export function loadCommands(argv: readonly string[], { loaders }: CommandSet): Promise<CommandModule[]> {
  const names = new Set(namesIn(argv, Object.keys(loaders)))
  const needed = Object.entries(loaders).filter(([name]) => names.has(name))
  return Promise.all(needed.map(async ([, load]) => (await load()).command))
}
