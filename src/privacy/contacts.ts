/** Gives contacts, whose ids derive from their addresses, the ids of their new addresses. */
import type { Engine } from '../warehouse/engine.ts'
import { memberTables } from '../warehouse/schema/physical.ts'
import { references } from '../warehouse/schema/references.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'

export const contactKey = (): string => quoteName(memberTables.get('contact')?.key ?? '')

export const contactTables: readonly string[] = ['pii.contact', 'pii.contact_history']

interface Renaming {
  readonly from: string
  /** '-1' for a contact of whom nothing is left. */
  readonly to: string
}

/** Two contacts that get one id become one. Adds the changed rows to `counts`, by table. */
export async function renameContact(
  engine: Engine,
  counts: Map<string, number>,
  { from, to }: Renaming,
): Promise<void> {
  const key = contactKey()
  const run = async (at: string, sql: string): Promise<void> => {
    const rows = await engine.run(sql)
    if (rows > 0) counts.set(at.replaceAll('"', ''), (counts.get(at.replaceAll('"', '')) ?? 0) + rows)
  }
  for (const at of [...contactTables, 'star.dim_contact', 'history.dim_contact']) {
    const isThere = await engine.rows(`select 1 as found from ${at} where ${key} = ${quoteText(to)} limit 1`)
    await run(
      at,
      isThere.length > 0 || to === '-1'
        ? `delete from ${at} where ${key} = ${quoteText(from)}`
        : `update ${at} set ${key} = ${quoteText(to)} where ${key} = ${quoteText(from)}`,
    )
  }
  for (const { table, column } of references.filter(({ target }) => target.name === 'dim_contact'))
    for (const at of [`star.${quoteName(table)}`, `history.${quoteName(table)}`])
      await run(
        at,
        `update ${at} set ${quoteName(column)} = ${quoteText(to)} where ${quoteName(column)} = ${quoteText(from)}`,
      )
}
