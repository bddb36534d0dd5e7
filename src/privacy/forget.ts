/**
 * Forgets a person: first a keyed hash is recorded, from which on pages arrive without the person; then landed pages are
 * overwritten, then the warehouse. Each step may be repeated, so a command that was killed is run again.
 */
import { findResource } from '../contract/catalogue.ts'
import type { LandingPlace } from '../landing/bucket/place.ts'
import type { LandingKeys } from '../landing/encryption.ts'
import { type Landing, openLanding } from '../landing/folder.ts'
import { openStore } from '../landing/open-store.ts'
import { type Rewritten, removeScan, rewriteLanding } from '../landing/rewrite.ts'
import type { Clock } from '../lib/clock.ts'
import { MusterError } from '../lib/errors.ts'
import { type Forgotten, readForgotten, recordForgotten, waitToErase } from '../state/privacy/forgotten.ts'
import { quarantinedTexts, replaceQuarantined } from '../state/privacy/held-texts.ts'
import { tableInQueries } from '../state/tables.ts'
import type { Engine } from '../warehouse/engine.ts'
import { memberTables } from '../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { forgetContacts } from './contacts.ts'
import { type Erasure, erasuresOf, heldRows, type Person } from './erasures.ts'
import { type Hashes, hashesWith, newHashKey, type Recogniser, recogniserOf } from './recogniser.ts'
import { blanked, forgottenText, scrubRecord } from './scrub.ts'
import { scrubWith } from './scrub-landing.ts'
import { type Cells, cellsWith, valuesOf } from './values-held.ts'

export interface ForgetRequest {
  readonly person: Person
  /** A text is a folder. */
  readonly landing: string | LandingPlace
  /** Of landed pages that are encrypted. */
  readonly landingKeys?: LandingKeys | undefined
  /** A record that changes at the service afterwards may bring the person back. */
  readonly allowsReturn: boolean
  /** Removes scans whose files cannot be read, and so cannot be cleared. */
  readonly acceptLoss: boolean
  /** Only counts what is held where. */
  readonly isDry: boolean
  /** Of a copy, which may be older than what is known of the person. */
  readonly mayBeUnknown?: boolean
}

export interface ForgetEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called after each landed scan. */
  readonly onScan?: ((done: number, scans: number) => void) | undefined
}

/** Rows by table, and landed pages. */
export interface Held {
  readonly rows: Readonly<Record<string, number>>
  readonly pages: number
  readonly damaged: readonly string[]
}

interface Subject {
  readonly hashes: Hashes
  readonly hash: string
  readonly values: ReadonlySet<string>
  readonly forgotten: Forgotten
}

/** As ops will say it; with the values that the warehouse has now. */
async function subjectOf(
  engine: Engine,
  { person, allowsReturn }: ForgetRequest,
  now: string,
): Promise<Subject> {
  const before = await readForgotten(engine)
  const hashes = hashesWith(before.persons[0]?.hash_key ?? newHashKey())
  const hash = hashes.person(person.kind, person.id)
  const values = await valuesOf(engine, person)
  const row = {
    person: hash,
    hash_key: hashes.key,
    state: 'begun' as const,
    allows_return: allowsReturn,
    begun_at: before.persons.find(one => one.person === hash)?.begun_at ?? now,
    done_at: null,
  }
  const known = new Map(before.values)
  for (const value of values) {
    const at = hashes.value(value)
    known.set(at, [...new Set([...(known.get(at) ?? []), hash])])
  }
  const others = before.persons.filter(one => one.person !== hash)
  return { hashes, hash, values, forgotten: { persons: [...others, row], values: known } }
}

/** '-1' stands for whoever a record does not name: what it says is about nobody. */
async function isKnown(engine: Engine, { kind, id }: Person): Promise<boolean> {
  const table = memberTables.get(kind)
  if (!table || id === '-1') return false
  const rows = await engine.rows(
    `select 1 as found from star.${quoteName(table.name)} where ${quoteName(table.key)} = ${quoteText(id)} limit 1`,
  )
  return rows.length > 0
}

type Counts = Map<string, number>

const add = (counts: Counts, table: string, rows: number): void => {
  if (rows > 0) counts.set(table.replaceAll('"', ''), (counts.get(table.replaceAll('"', '')) ?? 0) + rows)
}

async function erase(engine: Engine, erasure: Erasure, isDry: boolean): Promise<number> {
  const where = heldRows(erasure)
  if (isDry) {
    const [row] = await engine.rows<{ n: number }>(
      `select count(*) as n from ${erasure.table} where ${where}`,
    )
    return Number(row?.n)
  }
  const set = Object.entries(erasure.set).map(([name, to]) => `${quoteName(name)} = ${to}`)
  return engine.run(`update ${erasure.table} set ${set.join(', ')} where ${where}`)
}

function textInstead({ isKey, text }: Cells, hashes: Hashes): string {
  if (isKey) return `${forgottenText} ${hashes.value(text).slice(0, 8)}`
  return text.length > 40 ? blanked(text) : forgottenText
}

async function eraseCells(
  engine: Engine,
  cells: readonly Cells[],
  { hashes, isDry }: { readonly hashes: Hashes; readonly isDry: boolean },
): Promise<Counts> {
  const counts: Counts = new Map()
  for (const cell of cells) {
    const { table, column, text, where } = cell
    const same = `${column} = ${quoteText(text)} and ${where}`
    const [row] = await engine.rows<{ n: number }>(`select count(*) as n from ${table} where ${same}`)
    add(counts, table, Number(row?.n))
    if (!isDry)
      await engine.run(
        `update ${table} set ${column} = ${quoteText(textInstead(cell, hashes))} where ${same}`,
      )
  }
  return counts
}

async function eraseQuarantined(engine: Engine, recogniser: Recogniser, isDry: boolean): Promise<number> {
  let count = 0
  for (const held of await quarantinedTexts(engine)) {
    const bytes = Buffer.from(held.payload)
    const rest = scrubRecord(bytes, recogniser, findResource(held.resource))
    if (rest === bytes) continue
    count += 1
    const payload = rest.toString()
    const isThere = held.text === null || payload.includes(held.text)
    if (!isDry)
      await replaceQuarantined(engine, { ...held, payload, text: isThere ? held.text : forgottenText })
  }
  return count
}

/** One transaction: a reader sees the person everywhere or nowhere. */
async function eraseRows(engine: Engine, request: ForgetRequest, subject: Subject): Promise<Counts> {
  const counts: Counts = new Map()
  const { isDry } = request
  const how = { hashes: subject.hashes, isDry }
  const recogniser = recogniserOf(subject.forgotten)
  const cells = await cellsWith(engine, request.person, subject.values)
  const inMarts = cells.filter(({ table }) => table.startsWith('mart.'))
  // Before the rows that tell whose they are lose their values.
  const others = cells.filter(cell => !inMarts.includes(cell))
  for (const [table, rows] of await eraseCells(engine, others, how)) add(counts, table, rows)
  for (const erasure of erasuresOf(request.person))
    add(counts, erasure.table, await erase(engine, erasure, isDry))
  if (recogniser) add(counts, tableInQueries('quarantine'), await eraseQuarantined(engine, recogniser, isDry))
  if (!isDry) await forgetContacts(engine)
  // Last, as their owner may write nothing else.
  if (!isDry && inMarts.length > 0) await engine.actAsOwnerOf('mart')
  for (const [table, rows] of await eraseCells(engine, inMarts, how)) add(counts, table, rows)
  return counts
}

function requireReadable(landing: Landing, { damaged }: Rewritten, acceptLoss: boolean): void {
  if (damaged.length === 0 || acceptLoss) return
  throw new MusterError({
    what: `landed pages cannot be read, so they may still hold the person: ${damaged.join(', ')}`,
    where: landing.store.where,
    next: 'run the same command with --accept-loss, which removes them',
  })
}

async function clearLanding(
  landing: Landing,
  { signal, onScan, ...request }: Pick<ForgetEffects, 'signal' | 'onScan'> & ForgetRequest,
  { forgotten }: Subject,
): Promise<Rewritten> {
  const { isDry, acceptLoss } = request
  const rewritten = await rewriteLanding(landing, { scrub: scrubWith(forgotten), isDry, signal, onScan })
  if (isDry) return rewritten
  requireReadable(landing, rewritten, acceptLoss)
  for (const scan of rewritten.damaged) await removeScan(landing, scan)
  return rewritten
}

/** The landing is opened before anything is changed. */
export async function forget(effects: ForgetEffects, request: ForgetRequest): Promise<Held> {
  const store = openStore(request.landing, effects.signal)
  try {
    const landing = await openLanding(store, { keys: request.landingKeys })
    if (!request.isDry) await store.tryOut()
    return await forgetIn(landing, effects, request)
  } finally {
    store.close()
  }
}

async function forgetIn(landing: Landing, effects: ForgetEffects, request: ForgetRequest): Promise<Held> {
  const { engine, clock } = effects
  const now = new Date(clock.now()).toISOString()
  const subject = await subjectOf(engine, request, now)
  const isOld = (await readForgotten(engine)).persons.some(({ person }) => person === subject.hash)
  if (!isOld && !request.mayBeUnknown && !(await isKnown(engine, request.person)))
    throw new MusterError({
      what: `no ${request.person.kind} has this id`,
      where: engine.location,
      next: `look it up: muster sql "select * from star.dim_${request.person.kind}"`,
    })
  const row = subject.forgotten.persons.find(({ person }) => person === subject.hash)
  const values = [...subject.values].map(value => subject.hashes.value(value))
  if (!request.isDry && row) await engine.transaction(engine => recordForgotten(engine, row, values))
  const pages = await clearLanding(landing, { ...effects, ...request }, subject)
  const rows = request.isDry
    ? await eraseRows(engine, request, subject)
    : await engine.merge(async engine => {
        await waitToErase(engine)
        return eraseRows(engine, request, subject)
      })
  return { rows: Object.fromEntries([...rows].sort()), ...pages }
}

/** Once nothing is left, here and in what was written elsewhere. */
export async function finishForgetting(
  { engine, clock }: ForgetEffects,
  { person }: ForgetRequest,
): Promise<void> {
  const { persons } = await readForgotten(engine)
  const [first] = persons
  const hash = first && hashesWith(first.hash_key).person(person.kind, person.id)
  const row = persons.find(one => one.person === hash)
  if (row)
    await engine.transaction(engine =>
      recordForgotten(engine, { ...row, state: 'done', done_at: new Date(clock.now()).toISOString() }, []),
    )
}
