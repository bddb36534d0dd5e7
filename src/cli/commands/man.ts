/** `muster man`: the manual page. */
import { programVersion } from '../../lib/package.ts'
import type { CommandModule } from '../command.ts'
import { commandsOf } from '../shell/load-commands.ts'
import { manPage } from '../shell/man-page.ts'

export const command: CommandModule = {
  notes: [
    '`npm install --global`, also with --prefix, puts it where `man muster` finds it; a local installation does not. There, `muster man > muster.1` and `man ./muster.1` show it.',
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
