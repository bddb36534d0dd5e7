/** Builds what changed: each mart in a transaction of its own, after those it reads; what fails keeps yesterday's rows. */

import type { Clock } from '../lib/clock.ts'
import { hourMs } from '../lib/dates.ts'
import { DiskFull } from '../lib/errors.ts'
import type { Rng } from '../lib/rng.ts'
import { forgetMart, heldMarts, moveAsOf, recordMart } from '../state/marts/marts.ts'
import type { MartRow } from '../state/marts/tables.ts'
import { migrate } from '../state/migrate.ts'
import { type Lease, releaseLease, renewLease, takeLease } from '../state/runs/leases.ts'
import { newRunId } from '../state/runs/run-id.ts'
import { startRun, updateRun } from '../state/runs/runs.ts'
import type { Engine } from '../warehouse/engine.ts'
import type { Finding, Gate } from './gate.ts'
import type { Mart } from './mart.ts'
import { inOrder, martsRead, withSources } from './order.ts'
import { Refused, rebuildMart } from './rebuild.ts'
import { lastRead, sourcesOf, starState } from './sources.ts'
import { shapeOf, tableOf, tablesThere } from './table.ts'
import { dayOf, type Moment } from './tokens.ts'

export interface MartOutcome {
  readonly name: string
  /** `waiting`: one that it reads could not be built; `removed`: no file declares it any more. */
  readonly state: 'built' | 'unchanged' | 'failed' | 'refused' | 'waiting' | 'removed'
  /** Of the table as it is now; null when there is none. */
  readonly rows: number | null
  readonly milliseconds: number
  readonly findings: readonly Finding[]
  readonly message: string | null
}

export interface BuildRequest {
  readonly marts: readonly Mart[]
  /** Only these, and what they read; all when empty. */
  readonly names: readonly string[]
  /** Also what has not changed. */
  readonly all: boolean
}

export interface BuildEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly rng: Rng
  readonly signal: AbortSignal
  readonly version: string
  readonly gate: Gate
  readonly onMart: (outcome: MartOutcome | { readonly name: string; readonly state: 'building' }) => void
}

export interface BuildOutcome {
  readonly runId: string
  /** ISO 8601: until when the service was asked; null before the first sync. */
  readonly asOf: string | null
  readonly marts: readonly MartOutcome[]
  readonly milliseconds: number
}

/** Whoever builds for longer without finishing one mart is taken for dead. */
const leaseMs = hourMs

const instant = (clock: Clock): string => new Date(clock.now()).toISOString()

/** Its first line: the rest may show values. */
const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]?.trim() ?? ''

class Build {
  readonly #effects: BuildEffects
  readonly #lease: Lease
  readonly #moment: Moment
  readonly #runId: string
  readonly #outcomes = new Map<string, MartOutcome>()
  #held: ReadonlyMap<string, MartRow> = new Map()
  #there = new Set<string>()
  #star = ''

  constructor(effects: BuildEffects, lease: Lease, moment: Moment) {
    this.#effects = effects
    this.#lease = lease
    this.#moment = moment
    this.#runId = lease.holder
  }

  async run({ marts, names, all }: BuildRequest): Promise<readonly MartOutcome[]> {
    const { engine, signal, onMart } = this.#effects
    const ordered = inOrder(marts)
    this.#held = await heldMarts(engine)
    this.#there = await tablesThere(engine)
    this.#star = await starState(engine)
    for (const mart of names.length > 0 ? withSources(ordered, names) : ordered) {
      signal.throwIfAborted()
      await renewLease(engine, this.#lease)
      const outcome = await this.#one(mart, all)
      this.#outcomes.set(mart.name, outcome)
      onMart(outcome)
    }
    if (names.length === 0) await this.#removeStrays(new Set(marts.map(({ name }) => name)))
    const outcomes = [...this.#outcomes.values()]
    const current = outcomes.filter(({ state }) => state === 'unchanged').map(({ name }) => name)
    await moveAsOf(engine, current, this.#moment.asOf)
    return outcomes
  }

  async #one(mart: Mart, all: boolean): Promise<MartOutcome> {
    const held = this.#held.get(mart.name)
    const isThere = this.#there.has(mart.name)
    const nothing = {
      name: mart.name,
      rows: isThere ? Number(held?.rows) : null,
      milliseconds: 0,
      findings: [],
    }
    const missing = martsRead(mart).find(name => this.#isBehind(name))
    if (missing) return { ...nothing, state: 'waiting', message: `it reads mart.${missing}` }
    const sources = await this.#sourcesOf(mart)
    const isSame =
      held?.state === 'built' && held.definition_id === mart.definitionId && held.shape === shapeOf(mart)
    if (!all && isThere && isSame && held.sources === sources)
      return { ...nothing, state: 'unchanged', message: null }
    this.#effects.onMart({ name: mart.name, state: 'building' })
    try {
      return await this.#rebuild(mart, sources)
    } catch (error) {
      if (error instanceof DiskFull) throw error
      const state = error instanceof Refused ? 'refused' : 'failed'
      const message = firstLine(error)
      await this.#recordFailure(mart, { state, message })
      return { ...nothing, state, message, findings: error instanceof Refused ? error.findings : [] }
    }
  }

  async #rebuild(mart: Mart, sources: string): Promise<MartOutcome> {
    const { engine, clock, gate } = this.#effects
    const rebuilt = await rebuildMart({
      engine,
      mart,
      held: this.#held.get(mart.name),
      isThere: this.#there.has(mart.name),
      sources,
      moment: this.#moment,
      runId: this.#runId,
      lease: this.#lease,
      gate,
      now: () => clock.now(),
    })
    this.#there.add(mart.name)
    return { name: mart.name, state: 'built', message: null, ...rebuilt }
  }

  /** Marts that read one that is not up to date would mix two days. */
  #isBehind(name: string): boolean {
    const state = this.#outcomes.get(name)?.state
    return state !== 'built' && state !== 'unchanged'
  }

  async #sourcesOf(mart: Mart): Promise<string> {
    const built = martsRead(mart).length > 0 ? await heldMarts(this.#effects.engine) : this.#held
    return sourcesOf(this.#effects.engine, mart, {
      star: this.#star,
      moment: this.#moment,
      builtAt: name => built.get(name)?.built_at ?? null,
    })
  }

  /** What was built before keeps its figures. */
  async #recordFailure(mart: Mart, { state, message }: Pick<MartRow, 'state' | 'message'>): Promise<void> {
    const { engine, clock } = this.#effects
    const never = { built_at: null, as_of: null, rows: null, milliseconds: null }
    const held = this.#held.get(mart.name) ?? { ...never, definition_id: '', shape: '', sources: '' }
    const tried = { name: mart.name, tried_at: instant(clock), run_id: this.#runId }
    await recordMart(engine, { ...held, ...tried, state, message })
  }

  /** Only what a build has recorded: other tables in the schema are somebody else's. */
  async #removeStrays(declared: ReadonlySet<string>): Promise<void> {
    const { engine, onMart } = this.#effects
    for (const name of this.#held.keys()) {
      if (declared.has(name)) continue
      await engine.transaction(async engine => {
        await engine.run(`drop table if exists ${tableOf(name)}`)
        await forgetMart(engine, name)
      })
      const outcome = {
        name,
        state: 'removed',
        rows: null,
        milliseconds: 0,
        findings: [],
        message: null,
      } as const
      this.#outcomes.set(name, outcome)
      onMart(outcome)
    }
  }
}

const counted = (marts: readonly MartOutcome[]): string => {
  const counts = new Map<string, number>()
  for (const { state } of marts) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
}

/**
 * Marts of the request, in the order in which they were built. What a mart's SQL, its key or a check says against it is in
 * its outcome; a full disk, a lost lease or an abort throws, and what was built until then stays built.
 */
export async function buildMarts(effects: BuildEffects, request: BuildRequest): Promise<BuildOutcome> {
  const { engine, clock, rng, version } = effects
  const started = clock.now()
  const runId = newRunId(clock, rng)
  await migrate(engine, instant(clock))
  const given = [...request.names, ...(request.all ? ['--all'] : [])].join(' ')
  await startRun(engine, { runId, command: 'build', arguments: given, startedAt: instant(clock), version })
  const end = (change: { state: 'done' | 'failed'; message: string }): Promise<void> =>
    updateRun(engine, runId, { ...change, finished_at: instant(clock) })
  try {
    const lease = await takeLease(engine, { resource: 'mart', holder: runId, ms: leaseMs, work: 'built' })
    try {
      const moment = { asOf: await lastRead(engine), today: dayOf(started) }
      const marts = await new Build(effects, lease, moment).run(request)
      const isWhole = marts.every(({ state }) => ['built', 'unchanged', 'removed'].includes(state))
      await end({ state: isWhole ? 'done' : 'failed', message: counted(marts) })
      return { runId, asOf: moment.asOf, marts, milliseconds: Math.round(clock.now() - started) }
    } finally {
      await releaseLease(engine, lease)
    }
  } catch (error) {
    await end({ state: 'failed', message: firstLine(error) })
    throw error
  }
}
