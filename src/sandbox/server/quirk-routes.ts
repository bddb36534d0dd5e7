/** The route beside the API that changes quirks and options while the sandbox runs. No key is needed. */
import type { FastifyInstance } from 'fastify'
import { UsageError } from '../../lib/errors.ts'
import { type ContractOptions, parseOption } from '../options/contract-options.ts'
import { parseQuirk, type QuirkSettings, withQuirks } from '../quirks/quirk-options.ts'
import type { QuirkBook } from '../quirks/quirks.ts'
import { Declined } from '../refusals/api-error.ts'

interface Changeable {
  readonly options: ContractOptions
  readonly quirks: QuirkBook
}

interface Given {
  readonly quirk?: string | readonly string[]
  readonly option?: string | readonly string[]
}

export function serveQuirks(app: FastifyInstance, { options, quirks }: Changeable): void {
  app.get('/quirks', async () => ({ quirks: quirks.settings, options }))
  app.put('/quirks', async request => {
    const { quirk = [], option = [] } = request.query as Given
    try {
      const chosen = [option].flat().map(parseOption)
      const settings = [quirk].flat().map(parseQuirk)
      quirks.set(settings.reduce<QuirkSettings>(withQuirks, {}))
      Object.assign(options, ...chosen)
    } catch (error) {
      if (error instanceof UsageError) throw new Declined(error.message)
      throw error
    }
    return { quirks: quirks.settings, options }
  })
}
