/** Overwrites a person in the tables of a warehouse, or counts what would be overwritten. */
import { findResource } from '../contract/catalogue.ts'
import { countChange, everyTable } from '../state/marts/writes.ts'
import { type Forgotten, waitToErase } from '../state/privacy/forgotten.ts'
import { quarantinedTexts } from '../state/privacy/held-texts.ts'
import { tableInQueries } from '../state/tables.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { forgetContacts } from './contacts.ts'
import { byTable, type Erasure, erasuresOf, type Person } from './erasures.ts'
import { leafErasures } from './leaf-documents.ts'
import { type Hashes, type Recogniser, recogniserOf } from './recogniser.ts'
import { forgottenText } from './record/scrub.ts'
import { scrubRecord } from './record/scrub-page.ts'
import { cellErasures, mayHold } from './values-held.ts'

export interface EraseRequest {
  readonly person: Person
  /** Only counts what is stored where. */
  readonly isDry: boolean
}

/** The values that were looked for, so that they can be searched for again; never shown. */
export type Values = ReadonlySet<string>

export interface Subject {
  readonly hashes: Hashes
  readonly hash: string
  readonly values: Values
  readonly forgotten: Forgotten
}

export type Counts = Map<string, number>

const add = (counts: Counts, table: string, rows: number): void => {
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

/** Of this person alone: what others have in common with somebody forgotten earlier is not looked for again. */
function ownRecogniser({ hash, forgotten: { persons, values } }: Subject): Recogniser | undefined {
  const own = [...values].filter(([, owners]) => owners.includes(hash))
  return recogniserOf({
    persons: persons.filter(({ person }) => person === hash),
    values: new Map(own.map(([value]) => [value, [hash]])),
  })
}

/** Values of an attempt that was killed are known as hashes alone, which SQL cannot look for. */
function searchOf({ hashes, hash, values, forgotten }: Subject): (column: string) => string {
  const texts = new Set([...values].map(value => hashes.value(value)))
  const isKnown = [...forgotten.values].every(([value, owners]) => !owners.includes(hash) || texts.has(value))
  return isKnown ? column => mayHold(column, values) : column => `${column} is not null`
}

/** One a table. Of two for the same cell the first holds: words about the person become as long as they were. */
async function allErasures(engine: Engine, { person }: EraseRequest, subject: Subject): Promise<Erasure[]> {
  const recogniser = ownRecogniser(subject)
  if (!recogniser) return []
  const sought = { person, recogniser, mayHold: searchOf(subject), hashOf: subject.hashes.value }
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

async function eraseRows(engine: Engine, request: EraseRequest, subject: Subject): Promise<Counts> {
  const counts: Counts = new Map()
  const erasures = await allErasures(engine, request, subject)
  const inMarts = erasures.filter(({ table }) => table.startsWith('mart.'))
  for (const one of erasures.filter(one => !inMarts.includes(one)))
    add(counts, one.table, await erase(engine, one))
  for (const [table, rows] of await forgetContacts(engine)) add(counts, table, rows)
  // Last, as their owner may write nothing else.
  if (inMarts.length > 0) await engine.actAsOwnerOf('mart')
  for (const one of inMarts) add(counts, one.table, await erase(engine, one))
  return counts
}

/** Ends the transaction in which a dry run has overwritten. */
class TakenBack extends Error {}

/** One transaction: a reader sees the person everywhere or nowhere. A dry run takes it back, so it counts what would go. */
export async function eraseAll(engine: Engine, request: EraseRequest, subject: Subject): Promise<Counts> {
  let counts: Counts = new Map()
  try {
    await engine.merge(async engine => {
      if (!request.isDry) await waitToErase(engine)
      await countChange(engine, everyTable)
      counts = await eraseRows(engine, request, subject)
      if (request.isDry) throw new TakenBack()
    })
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error
  }
  return counts
}
