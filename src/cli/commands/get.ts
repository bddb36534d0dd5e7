/** `muster get PATH-OR-RESOURCE [ID]`: shows one record as the service has it. */

import { openAdHocClient } from '../../app/connection/ad-hoc-client.ts'
import { requestPath } from '../../app/connection/record-paths.ts'
import { anyText, type CommandModule, listOption, repeated } from '../command.ts'
import { printJson } from '../terminal/output.ts'

export const command: CommandModule = {
  arguments: [
    {
      name: '<what>',
      summary: 'a resource, such as requisitions, or a path that begins with /',
      completes: 'resource',
    },
    { name: '[id]', summary: 'id or short id of the record' },
  ],
  options: [
    {
      flags: '--param <name=value>',
      summary: 'a query parameter; may be repeated',
      parse: repeated(anyText),
    },
  ],
  examples: [
    'muster get requisitions 65f0c2a1b3d4e5f60718293a',
    'muster get /trades/65f0c2a1b3d4e5f60718293a --param includeRates=true',
    'muster get me',
  ],
  run: async (context, [what = '', id], options) => {
    const { path, query } = requestPath(what, id, listOption(options, 'param'))
    const { client, close } = await openAdHocClient(context.connection(), context)
    try {
      const { record } = await client.getRecord(path, query, { purpose: 'operator' })
      printJson(context, record)
      return 0
    } finally {
      await close()
    }
  },
}
