/**
 * Forgets a person: first a keyed hash is recorded, from which on pages arrive without the person; then landed pages are
 * overwritten, then the warehouse. Each step may be repeated, so a command that was killed is run again.
 */
import type { LandingPlace } from '../landing/bucket/place.ts'
import { type Landing, openLanding } from '../landing/folder.ts'
import { openStore } from '../landing/open-store.ts'
import { type Rewritten, removeScan, rewriteLanding } from '../landing/rewrite.ts'
import type { Clock } from '../lib/clock.ts'
import { MusterError } from '../lib/errors.ts'
import { type Forgotten, readForgotten, recordForgotten } from '../state/privacy/forgotten.ts'
import type { Engine } from '../warehouse/engine.ts'
import { memberTables } from '../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { eraseAll, type Subject, type Values } from './erase.ts'
import type { Person } from './erasures.ts'
import { leafErasures } from './leaf-documents.ts'
import { hashesWith, newHashKey, recogniserOf } from './recogniser.ts'
import type { FoundValues } from './record/scrub.ts'
import { scrubWith } from './scrub-landing.ts'
import { telling } from './telling.ts'
import { valuesOf } from './values-held.ts'

export interface ForgetRequest {
  readonly person: Person
  /** A text is a folder. */
  readonly landing: string | LandingPlace
  /** A record that changes at the service afterwards may bring the person back. */
  readonly allowsReturn: boolean
  /** Removes scans whose files cannot be read, and so cannot be cleared. */
  readonly acceptLoss: boolean
  /** Only counts what is held where. */
  readonly isDry: boolean
  /** Of a copy, which may be older than what is known of the person. */
  readonly mayBeUnknown?: boolean
  /** Found elsewhere, as in the warehouse that a copy was made from. */
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
export interface Held {
  readonly rows: Readonly<Record<string, number>>
  readonly pages: number
  readonly damaged: readonly string[]
  readonly values: Values
}

type Reading = Pick<ForgetEffects, 'engine' | 'signal'> & { readonly landing: Landing }

/** Undeclared values that records give to others too, such as the address of an office, are not those of the person. */
const ownValues = ({ declared, undeclared, ofOthers }: FoundValues): string[] =>
  [...declared, ...[...undeclared].filter(text => !ofOthers.has(text))].flatMap(text => {
    const normal = telling(text)?.normal
    return normal === undefined ? [] : [normal]
  })

/** Names and addresses beside the id in landed pages and undeclared leaves of any age, which no table may have any more. */
async function formerValues(
  { engine, landing, signal }: Reading,
  person: Person,
  persons: Forgotten['persons'],
): Promise<string[]> {
  const byId = { persons, values: new Map() }
  const recogniser = recogniserOf(byId)
  if (!recogniser) return []
  const found = { declared: new Set<string>(), undeclared: new Set<string>(), ofOthers: new Set<string>() }
  await rewriteLanding(landing, { scrub: scrubWith(byId, found), isDry: true, signal })
  await leafErasures(engine, person, { recogniser, mayHold: () => 'false', found })
  return ownValues(found)
}

/** As ops will say it; with the values that the warehouse and its landing have now, and those that the caller knows. */
async function subjectOf(
  reading: Reading,
  { person, allowsReturn, values: given = new Set() }: ForgetRequest,
  { now, isAgain = false }: { readonly now: string; readonly isAgain?: boolean },
): Promise<Subject> {
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
        ...(await formerValues(reading, person, [row])),
      ])
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

async function withLanding<Result>(
  { signal }: ForgetEffects,
  { landing, isDry }: ForgetRequest,
  work: (landing: Landing) => Promise<Result>,
): Promise<Result> {
  const store = openStore(landing, signal)
  try {
    const opened = openLanding(store)
    if (!isDry) await store.tryOut()
    return await work(opened)
  } finally {
    store.close()
  }
}

/** The landing is opened before anything is changed. */
export const forget = (effects: ForgetEffects, request: ForgetRequest): Promise<Held> =>
  withLanding(effects, request, landing => forgetIn(landing, effects, request))

const timeOf = ({ clock }: ForgetEffects): string => new Date(clock.now()).toISOString()

async function forgetIn(landing: Landing, effects: ForgetEffects, request: ForgetRequest): Promise<Held> {
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

/** Searches tables and landed pages again, for the same values; returns where something is left. */
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
    next: 'run the same command again; if it ends like this twice, something writes the person back',
  })
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
