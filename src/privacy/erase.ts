/** Overwrites a person in the tables of a warehouse, or counts the rows it would overwrite. */
import { createHash } from 'node:crypto'
import { findResource } from '../contract/catalogue.ts'
import { countChange, everyTable } from '../state/marts/writes.ts'
import { type ForgottenValues, quarantinedTexts, waitToErase } from '../state/privacy.ts'
import { tableInQueries } from '../state/tables.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { contactKey, contactTables, renameContact } from './contacts.ts'
import { byTable, type Erasure, erasuresOf, type PersonKey } from './erasures.ts'
import { leafErasures } from './leaf-documents.ts'
import { cellErasures, cellFilter } from './person-cells.ts'
import { type Hashes, type Recogniser, recogniserOf } from './recogniser.ts'
import { forgottenText } from './record/scrub.ts'
import { scrubRecord } from './record/scrub-page.ts'

export interface EraseRequest {
  readonly person: PersonKey
  /** Counts the rows by table and changes nothing. */
  readonly isDry: boolean
}

/** The person's identifying values, kept for a second search; never shown. */
export type Values = ReadonlySet<string>

export interface ErasureSubject {
  readonly hashes: Hashes
  readonly hash: string
  readonly values: Values
  readonly forgotten: ForgottenValues
}

export type RowCounts = Map<string, number>

const add = (counts: RowCounts, table: string, rows: number): void => {
  if (rows > 0) counts.set(table.replaceAll('"', ''), (counts.get(table.replaceAll('"', '')) ?? 0) + rows)
}

async function quarantineErasures(engine: Engine, recogniser: Recogniser): Promise<Erasure[]> {
  const found: Erasure[] = []
  for (const { quarantine_id, resource, payload, text } of await quarantinedTexts(engine)) {
    const bytes = Buffer.from(payload)
    const rest = scrubRecord(bytes, recogniser, findResource(resource))
    if (rest === bytes) continue
    const isGone = text !== null && !rest.toString().includes(text)
    found.push({
      table: tableInQueries('quarantine'),
      set: { payload: quoteText(rest.toString()), ...(isGone && { text: quoteText(forgottenText) }) },
      where: `quarantine_id = ${quoteText(quarantine_id)}`,
    })
  }
  return found
}

/** Recognises this person alone: values of persons forgotten earlier are not searched for again. */
function ownRecogniser({ hash, forgotten: { persons, values } }: ErasureSubject): Recogniser | undefined {
  const own = [...values].filter(([, owners]) => owners.includes(hash))
  return recogniserOf({
    persons: persons.filter(({ person }) => person === hash),
    values: new Map(own.map(([value]) => [value, [hash]])),
  })
}

/** A killed attempt leaves only hashes of its values, which SQL cannot search for; then every cell is read. */
function searchOf({ hashes, hash, values, forgotten }: ErasureSubject): (column: string) => string {
  const texts = new Set([...values].map(value => hashes.value(value)))
  const isKnown = [...forgotten.values].every(([value, owners]) => !owners.includes(hash) || texts.has(value))
  return isKnown ? column => cellFilter(column, values) : column => `${column} is not null`
}

/** One erasure a table. The first erasure of a cell wins, so that free text keeps its length. */
async function allErasures(
  engine: Engine,
  { person }: EraseRequest,
  subject: ErasureSubject,
): Promise<Erasure[]> {
  const recogniser = ownRecogniser(subject)
  if (!recogniser) return []
  const sought = { person, recogniser, cellFilter: searchOf(subject), hashOf: subject.hashes.value }
  return byTable([
    ...erasuresOf(person),
    ...(await leafErasures(engine, person, sought)),
    ...(await quarantineErasures(engine, recogniser)),
    ...(await cellErasures(engine, sought)),
  ])
}

async function erase(engine: Engine, { table, set, where }: Erasure): Promise<number> {
  const to = Object.entries(set).map(([name, value]) => `${quoteName(name)} = ${value}`)
  return engine.run(`update ${table} set ${to.join(', ')} where ${where}`)
}

/** The key that the declaration of `contact` derives from an overwritten address. */
const forgottenId = createHash('md5').update(forgottenText).digest('hex')

/**
 * A contact's id derives from its address, so an overwritten contact gets the id that its overwritten pages yield. Runs inside
 * a transaction; returns the number of changed rows by table.
 */
async function forgetContacts(engine: Engine): Promise<RowCounts> {
  const counts: RowCounts = new Map()
  const key = contactKey()
  const found = await engine.rows<{ id: string }>(
    contactTables
      .map(
        at =>
          `select ${key} as id from ${at} where email = ${quoteText(forgottenText)} and ${key} <> ${quoteText(forgottenId)}`,
      )
      .join(' union '),
  )
  for (const { id } of found) await renameContact(engine, counts, { from: id, to: forgottenId })
  return counts
}

async function eraseRows(engine: Engine, request: EraseRequest, subject: ErasureSubject): Promise<RowCounts> {
  const counts: RowCounts = new Map()
  const erasures = await allErasures(engine, request, subject)
  const inMarts = erasures.filter(({ table }) => table.startsWith('mart.'))
  for (const one of erasures.filter(one => !inMarts.includes(one)))
    add(counts, one.table, await erase(engine, one))
  for (const [table, rows] of await forgetContacts(engine)) add(counts, table, rows)
  // Marts come last, because their owner may write nothing else.
  if (inMarts.length > 0) await engine.actAsOwnerOf('mart')
  for (const one of inMarts) add(counts, one.table, await erase(engine, one))
  return counts
}

/** Rolls back the transaction of a dry run. */
class ErasureRolledBack extends Error {}

/** Runs in one transaction: a reader sees the person everywhere or nowhere. A dry run rolls back, so its counts are exact. */
export async function eraseAll(
  engine: Engine,
  request: EraseRequest,
  subject: ErasureSubject,
): Promise<RowCounts> {
  let counts: RowCounts = new Map()
  try {
    await engine.merge(async engine => {
      if (!request.isDry) await waitToErase(engine)
      await countChange(engine, everyTable)
      counts = await eraseRows(engine, request, subject)
      if (request.isDry) throw new ErasureRolledBack()
    })
  } catch (error) {
    if (!(error instanceof ErasureRolledBack)) throw error
  }
  return counts
}
