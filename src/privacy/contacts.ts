/** Contacts have no id but their address: one that was overwritten gets the id that its overwritten pages give it. */
import { createHash } from 'node:crypto'
import type { Engine } from '../warehouse/engine.ts'
import { memberTables } from '../warehouse/schema/physical.ts'
import { references } from '../warehouse/schema/references.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { forgottenText } from './record/scrub.ts'

/** As `contact` in the declarations makes it. */
const forgottenId = createHash('md5').update(forgottenText).digest('hex')

const versions = (schema: 'star' | 'pii', name: string): string[] => {
  const history = schema === 'pii' ? `pii.${quoteName(`${name}_history`)}` : `history.${quoteName(name)}`
  return [`${schema}.${quoteName(name)}`, history]
}

/** Runs inside a transaction; returns how many rows it changed, by table. */
export async function forgetContacts(engine: Engine): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const table = memberTables.get('contact')
  if (!table) return counts
  const run = async (at: string, sql: string): Promise<void> => {
    counts.set(at, (counts.get(at) ?? 0) + (await engine.run(sql)))
  }
  const key = quoteName(table.key)
  const pii = versions('pii', table.piiTable)
  const found = await engine.rows<{ id: string }>(
    pii
      .map(
        at =>
          `select ${key} as id from ${at} where email = ${quoteText(forgottenText)} and ${key} <> ${quoteText(forgottenId)}`,
      )
      .join(' union '),
  )
  for (const { id } of found) {
    const same = `= ${quoteText(id)}`
    for (const at of [...pii, ...versions('star', table.name)]) {
      const isThere = await engine.rows(
        `select 1 as found from ${at} where ${key} = ${quoteText(forgottenId)} limit 1`,
      )
      await run(
        at,
        isThere.length > 0
          ? `delete from ${at} where ${key} ${same}`
          : `update ${at} set ${key} = ${quoteText(forgottenId)} where ${key} ${same}`,
      )
    }
    for (const reference of references.filter(({ target }) => target.name === table.name))
      for (const at of versions('star', reference.table))
        await run(
          at,
          `update ${at} set ${quoteName(reference.column)} = ${quoteText(forgottenId)}
           where ${quoteName(reference.column)} ${same}`,
        )
  }
  return counts
}
