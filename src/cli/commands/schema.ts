/** `muster schema`: prints the JSON Schema of the settings file. */
import { settingsSchema } from '../../config/schema.ts'
import type { CommandModule } from '../command.ts'
import { printJson } from '../terminal/output.ts'

export const command: CommandModule = {
  notes: [
    'Editors use it to complete and check the settings. `muster init` writes it beside the settings file, whose first',
    'line names it. After updating muster, write it again: muster schema > config/muster.schema.json',
  ],
  examples: ['muster schema'],
  run: async context => {
    printJson(context, settingsSchema())
    return 0
  },
}
