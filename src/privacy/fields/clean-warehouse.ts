/** Cleans all that a warehouse stores by a field policy: tables, quarantine, events and the ids of contacts. */
import { createHash } from 'node:crypto'
import { countChange, everyTable } from '../../state/marts/writes.ts'
import { quarantinedTexts, waitToErase } from '../../state/privacy.ts'
import { tableInQueries } from '../../state/tables.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { contactKey, contactTables, renameContact } from '../contacts.ts'
import { stepsOf } from '../leaf-documents.ts'
import { type RowCounts, TableCleaning } from './clean-tables.ts'
import { gatedBody, gatedValue } from './gate.ts'
import type { FieldPolicy } from './policy.ts'
import { treatedIn } from './treated-columns.ts'

/** Takes the place of a record of which only the beginning was stored, and that of a blocked value. */
const notStored = '[not stored]'

async function cleanQuarantine(engine: Engine, policy: FieldPolicy, cleaning: TableCleaning): Promise<void> {
  const table = tableInQueries('quarantine')
  for (const { quarantine_id, resource, path, payload, text } of await quarantinedTexts(engine)) {
    const rest = gatedValue(policy, payload, { resource }) ?? notStored
    const field = stepsOf(path).filter(step => typeof step === 'string')
    const isTreated = policy.at(resource, field.join('.')) !== undefined
    const isGone =
      text !== null && text !== notStored && (isTreated || (rest !== payload && !rest.includes(text)))
    if (rest === payload && !isGone) continue
    const set = [`payload = ${quoteText(rest)}`, ...(isGone ? [`text = ${quoteText(notStored)}`] : [])]
    await cleaning.change(
      table,
      `update ${table} set ${set.join(', ')} where quarantine_id = ${quoteText(quarantine_id)}`,
    )
  }
}

/** Values outside a documented list, of columns that the policy treats. */
async function cleanUnknownValues(policy: FieldPolicy, cleaning: TableCleaning): Promise<void> {
  const names = treatedIn(policy).columns.flatMap(({ table, name }) => [name, `${table.name}.${name}`])
  if (names.length === 0) return
  const list = [...new Set(names)].map(quoteText).join(', ')
  await cleaning.change('pii.unknown_value', `delete from pii.unknown_value where path in (${list})`)
}

/** Addresses that were removed or hashed give their contacts other ids. */
async function renameContacts(engine: Engine, policy: FieldPolicy, counts: RowCounts): Promise<void> {
  if (!treatedIn(policy).columns.some(({ table }) => table.name === 'dim_contact')) return
  const contacts = await engine.rows<{ id: string; name: string | null; email: string | null }>(
    contactTables.map(at => `select ${contactKey()} as id, name, email from ${at}`).join(' union '),
  )
  const idOf = (text: string): string => createHash('md5').update(text.toLowerCase()).digest('hex')
  const done = new Set<string>()
  for (const { id, name, email } of contacts) {
    const identity = email ?? name
    const to = identity === null ? '-1' : idOf(identity)
    if (to !== id && id !== '-1' && !done.has(id)) await renameContact(engine, counts, { from: id, to })
    done.add(id)
  }
}

/** Rolls back the transaction of a dry run. */
class CleaningRolledBack extends Error {}

/** Runs in one transaction; a dry run rolls back, so its counts are exact. */
export async function cleanTables(
  engine: Engine,
  policy: FieldPolicy,
  { isDry }: { readonly isDry: boolean },
): Promise<Pick<TableCleaning, 'counts' | 'tables'>> {
  let done = new TableCleaning(engine, policy)
  try {
    await engine.merge(async engine => {
      if (!isDry) await waitToErase(engine)
      await countChange(engine, everyTable)
      const cleaning = new TableCleaning(engine, policy)
      done = cleaning
      await cleaning.run()
      await cleanQuarantine(engine, policy, cleaning)
      await cleanUnknownValues(policy, cleaning)
      const payload = { table: tableInQueries('inbox'), column: 'payload', where: 'true' }
      await cleaning.values(payload, text => gatedBody(policy, text))
      await renameContacts(engine, policy, cleaning.counts)
      if (isDry) throw new CleaningRolledBack()
    })
  } catch (error) {
    if (!(error instanceof CleaningRolledBack)) throw error
  }
  return done
}
