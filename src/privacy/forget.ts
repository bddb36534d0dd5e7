/**
 * Forgets a person. First records a keyed hash, so that new pages are stored without the person; then overwrites landed pages,
 * then the warehouse. Each step can be repeated, so the user runs a killed command again.
 */

import { Landing, openStore } from '../landing/landing.ts'
import { type RewriteResult, rewriteLanding } from '../landing/rewrite.ts'
import { type LandingPlace, tryStore } from '../landing/store.ts'
import type { Clock } from '../lib/clock.ts'
import { MusterError } from '../lib/errors.ts'
import { type ForgottenValues, readForgotten, recordForgotten } from '../state/privacy.ts'
import type { Engine } from '../warehouse/engine.ts'
import { memberTables } from '../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { type ErasureSubject, eraseAll, type Values } from './erase.ts'
import type { PersonKey } from './erasures.ts'
import { identifierOf } from './identifiers.ts'
import { leafErasures } from './leaf-documents.ts'
import { valuesOf } from './person-cells.ts'
import { hashesWith, newHashKey, recogniserOf } from './recogniser.ts'
import type { FoundValues } from './record/scrub.ts'
import { scrubWith } from './scrub-landing.ts'

export interface ForgetRequest {
  readonly person: PersonKey
  /** A string names a folder. */
  readonly landing: string | LandingPlace
  /** A record that changes at the service later may bring the person back. */
  readonly allowsReturn: boolean
  /** Deletes scans whose files cannot be read, and so cannot be scrubbed. */
  readonly acceptLoss: boolean
  /** Counts the rows by table and changes nothing. */
  readonly isDry: boolean
  /** Accepts an unknown person, because a copy may be older than the person's first record. */
  readonly mayBeUnknown?: boolean
  /** Values found elsewhere, such as in the warehouse that was copied. */
  readonly values?: Values
}

export interface ForgetEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called after each landed scan. */
  readonly onScan?: ((done: number, scans: number) => void) | undefined
}

/** Rows by table, and landed pages. */
export interface PersonData {
  readonly rows: Readonly<Record<string, number>>
  readonly pages: number
  readonly damaged: readonly string[]
  readonly values: Values
}

type ForgetReading = Pick<ForgetEffects, 'engine' | 'signal'> & { readonly landing: Landing }

/** Leaves out undeclared values that records give for others too, such as the address of an office. */
const ownValues = ({ declared, undeclared, ofOthers }: FoundValues): string[] =>
  [...declared, ...[...undeclared].filter(text => !ofOthers.has(text))].flatMap(text => {
    const normal = identifierOf(text)?.normal
    return normal === undefined ? [] : [normal]
  })

/** Names and addresses beside the id in old landed pages and undeclared leaves, which tables may no longer contain. */
async function previousValues(
  { engine, landing, signal }: ForgetReading,
  person: PersonKey,
  persons: ForgottenValues['persons'],
): Promise<string[]> {
  const byId = { persons, values: new Map() }
  const recogniser = recogniserOf(byId)
  if (!recogniser) return []
  const found = { declared: new Set<string>(), undeclared: new Set<string>(), ofOthers: new Set<string>() }
  await rewriteLanding(landing, { scrub: scrubWith(byId, found), isDry: true, signal })
  await leafErasures(engine, person, { recogniser, cellFilter: () => 'false', found })
  return ownValues(found)
}

/** The person as `ops` will record it, with all values known to the warehouse, its landing and the caller. */
async function subjectOf(
  reading: ForgetReading,
  { person, allowsReturn, values: given = new Set() }: ForgetRequest,
  { now, isAgain = false }: { readonly now: string; readonly isAgain?: boolean },
): Promise<ErasureSubject> {
  const before = await readForgotten(reading.engine)
  const hashes = hashesWith(before.persons[0]?.hash_key ?? newHashKey())
  const hash = hashes.person(person.kind, person.id)
  const row = {
    person: hash,
    hash_key: hashes.key,
    state: 'begun' as const,
    allows_return: allowsReturn,
    begun_at: before.persons.find(one => one.person === hash)?.begun_at ?? now,
    done_at: null,
  }
  const values = isAgain
    ? given
    : new Set([
        ...given,
        ...(await valuesOf(reading.engine, person)),
        ...(await previousValues(reading, person, [row])),
      ])
  const known = new Map(before.values)
  for (const value of values) {
    const at = hashes.value(value)
    known.set(at, [...new Set([...(known.get(at) ?? []), hash])])
  }
  const others = before.persons.filter(one => one.person !== hash)
  return { hashes, hash, values, forgotten: { persons: [...others, row], values: known } }
}

/** '-1' stands for a person whom the record does not name. */
async function isKnown(engine: Engine, { kind, id }: PersonKey): Promise<boolean> {
  const table = memberTables.get(kind)
  if (!table || id === '-1') return false
  const rows = await engine.rows(
    `select 1 as found from star.${quoteName(table.name)} where ${quoteName(table.key)} = ${quoteText(id)} limit 1`,
  )
  return rows.length > 0
}

function requireReadable(landing: Landing, { damaged }: RewriteResult, acceptLoss: boolean): void {
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
  { forgotten }: ErasureSubject,
): Promise<RewriteResult> {
  const { isDry, acceptLoss } = request
  const rewritten = await rewriteLanding(landing, { scrub: scrubWith(forgotten), isDry, signal, onScan })
  if (isDry) return rewritten
  requireReadable(landing, rewritten, acceptLoss)
  for (const scan of rewritten.damaged) await landing.discard(scan)
  return rewritten
}

async function withLanding<Result>(
  { signal }: ForgetEffects,
  { landing, isDry }: ForgetRequest,
  work: (landing: Landing) => Promise<Result>,
): Promise<Result> {
  const store = openStore(landing, signal)
  try {
    if (!isDry && typeof landing !== 'string' && landing.bucket) await tryStore(store)
    return await work(new Landing(store))
  } finally {
    store.close()
  }
}

/** Opens the landing before it changes anything. */
export const forget = (effects: ForgetEffects, request: ForgetRequest): Promise<PersonData> =>
  withLanding(effects, request, landing => forgetIn(landing, effects, request))

const timeOf = ({ clock }: ForgetEffects): string => new Date(clock.now()).toISOString()

async function forgetIn(
  landing: Landing,
  effects: ForgetEffects,
  request: ForgetRequest,
): Promise<PersonData> {
  const { engine } = effects
  const { person } = request
  const before = await readForgotten(engine)
  const isOld = before.persons.some(
    ({ person: hash, hash_key }) => hash === hashesWith(hash_key).person(person.kind, person.id),
  )
  if (!isOld && !request.mayBeUnknown && !(await isKnown(engine, person)))
    throw new MusterError({
      what: `no ${person.kind} has this id`,
      where: engine.location,
      next: `look it up: muster sql "select * from star.dim_${person.kind}"`,
    })
  const subject = await subjectOf({ ...effects, landing }, request, { now: timeOf(effects) })
  const row = subject.forgotten.persons.find(({ person }) => person === subject.hash)
  const values = [...subject.values].map(value => subject.hashes.value(value))
  if (!request.isDry && row) await engine.transaction(engine => recordForgotten(engine, row, values))
  const pages = await clearLanding(landing, { ...effects, ...request }, subject)
  const rows = await eraseAll(engine, request, subject)
  return { rows: Object.fromEntries([...rows].sort()), ...pages, values: subject.values }
}

/** Searches tables and landed pages again for the same values; returns the places that still contain one. */
export const searchAgain = (
  effects: ForgetEffects,
  request: ForgetRequest & { readonly values: Values },
): Promise<readonly string[]> =>
  withLanding(effects, { ...request, isDry: true }, async landing => {
    const dry = { ...request, isDry: true }
    const subject = await subjectOf({ ...effects, landing }, request, { now: timeOf(effects), isAgain: true })
    const { pages, damaged } = await clearLanding(landing, { ...effects, ...dry }, subject)
    const rows = await eraseAll(effects.engine, dry, subject)
    return [
      ...[...rows].map(([table, count]) => `${table} (${count})`),
      ...(pages + damaged.length > 0 ? [`landed pages (${pages + damaged.length})`] : []),
    ]
  })

export function requireNothing(places: readonly string[], where: string): void {
  if (places.length === 0) return
  throw new MusterError({
    what: `the person is still in ${places.join(', ')}, so nothing is recorded as done`,
    where,
    next: 'run the same command again; if this error comes twice, another process writes the person back',
  })
}

/** Records the erasure as done, once neither the warehouse nor its copies contain the person. */
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
