/** Names that an argument can have, for completion; each is read where it is declared. */
import type { Completes } from '../command.ts'
import type { CommandContext } from '../context.ts'

type Read = (context: CommandContext) => Promise<readonly string[]>

const readers: Readonly<Record<Completes, Read>> = {
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

/** Settings that are wrong or absent complete nothing: an error in the middle of a line would help nobody. */
export async function namesOf(kind: Completes, context: CommandContext): Promise<readonly string[]> {
  try {
    return await readers[kind](context)
  } catch {
    // Whatever is wrong with the settings or the DAGs is told by the command itself.
    return []
  }
}
