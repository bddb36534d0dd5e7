/** Loads the modules of the commands that a command line names. */
import type { CommandModule, CommandSet, DeclaredCommand } from '../command.ts'
import type { CommandContext } from '../context.ts'

export interface LoadedCommand extends DeclaredCommand {
  readonly name: string
  /** Undefined for a command that the command line does not name. */
  readonly module: CommandModule | undefined
}

/** All commands; those whose first word occurs anywhere in the command line are loaded. */
export function loadCommands(
  argv: readonly string[],
  { commands }: CommandSet,
): Promise<readonly LoadedCommand[]> {
  return Promise.all(
    Object.entries(commands).map(async ([name, declared]) => {
      const isNamed = argv.includes(name.split(' ')[0] ?? name)
      return { ...declared, name, module: isNamed ? (await declared.load()).command : undefined }
    }),
  )
}

/** The commands of the program that runs this one. */
export const commandsOf = ({ program }: CommandContext): CommandSet => program.set as CommandSet
