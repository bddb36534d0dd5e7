/** Builds marts whose inputs changed, each in its own transaction after those it reads; one that fails keeps yesterday's rows. */

import type { Clock } from '../lib/clock.ts'
import { hourMs } from '../lib/dates.ts'
import { Busy, DiskFull, firstLineOf, Interrupted } from '../lib/errors.ts'
import type { Rng } from '../lib/rng.ts'
import { moveAsOf, recordedMarts, recordFailedMart } from '../state/marts/marts.ts'
import { type SourceState, sourceState } from '../state/marts/source-state.ts'
import type { MartRow } from '../state/marts/tables.ts'
import { migrate } from '../state/migrate.ts'
import { type Lease, releaseLease, renewLease, takeLease } from '../state/runs/leases.ts'
import { newRunId, startRun, updateRun } from '../state/runs/runs.ts'
import { martLease } from '../state/runs/whole-lease.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type Moment, momentAt } from './inputs.ts'
import { type CurrencySettings, settleCurrencies } from './kept/currencies.ts'
import { keepAccrual } from './kept/month-end.ts'
import type { Mart } from './mart.ts'
import { inOrder, martsRead, withSources } from './mart.ts'
import type { Finding, Gate } from './rebuild.ts'
import { Refused, rebuildMart, removeMart } from './rebuild.ts'
import { addMartReferences } from './references.ts'
import { sideBySide } from './side-by-side.ts'
import { sourcesOf } from './sources.ts'
import { martTables, shapeOf } from './table.ts'
import { isFresh } from './views.ts'

export interface MartResult {
  readonly name: string
  /** `waiting`: a mart that it reads was not built; `removed`: no file declares it any more. */
  readonly state: 'built' | 'unchanged' | 'failed' | 'refused' | 'waiting' | 'removed'
  /** Rows of the table now; null when there is no table. */
  readonly rows: number | null
  readonly milliseconds: number
  readonly findings: readonly Finding[]
  readonly message: string | null
  readonly isHeldByOthers?: boolean
}

export interface BuildRequest extends CurrencySettings {
  readonly marts: readonly Mart[]
  /** Only these marts and those they read; all when empty. */
  readonly names: readonly string[]
  /** Also marts that have not changed. */
  readonly all: boolean
  /** The month, 1 to 12, in which the fiscal year begins. */
  readonly fiscalMonth?: number
}

export interface BuildEffects {
  readonly engine: Engine
  readonly clock: Clock
  readonly rng: Rng
  readonly signal: AbortSignal
  readonly version: string
  readonly gate: Gate
  readonly onMart: (result: MartResult | { readonly name: string; readonly state: 'building' }) => void
}

export interface BuildResult {
  readonly runId: string
  /** ISO 8601: end of the last run that read the service; null before the first sync. */
  readonly asOf: string | null
  readonly marts: readonly MartResult[]
  readonly milliseconds: number
}

/** A build that takes longer for one mart is considered dead. */
const leaseMs = hourMs
const instant = (clock: Clock): string => new Date(clock.now()).toISOString()
const removed = { state: 'removed', rows: null, milliseconds: 0, findings: [], message: null } as const

type Failure = Pick<MartRow, 'state' | 'message'>

class Build {
  readonly #effects: BuildEffects
  readonly #lease: Lease
  readonly #moment: Moment
  readonly #runId: string
  readonly #results = new Map<string, MartResult>()
  /** Rows of ops.mart. */
  #recorded: ReadonlyMap<string, MartRow> = new Map()
  /** Names of the tables in the schema. */
  #tables = new Set<string>()
  /** Before any mart is built. */
  #state: SourceState = { structure: '', writes: new Map() }

  constructor(effects: BuildEffects, lease: Lease, moment: Moment) {
    this.#effects = effects
    this.#lease = lease
    this.#moment = moment
    this.#runId = lease.holder
  }

  async run({ marts, names, all }: BuildRequest): Promise<readonly MartResult[]> {
    const { engine, signal, onMart } = this.#effects
    const ordered = inOrder(marts)
    this.#recorded = await recordedMarts(engine)
    this.#tables = await martTables(engine)
    this.#state = await sourceState(engine)
    const chosen = names.length > 0 ? withSources(ordered, names) : ordered
    await sideBySide(engine, chosen, async (mart, engine) => {
      signal.throwIfAborted()
      const result = await this.#one(engine, mart, all)
      this.#results.set(mart.name, result)
      onMart(result)
    })
    if (names.length === 0) await this.#removeStrays(new Set(marts.map(({ name }) => name)))
    const results = [...this.#results.values()]
    const current = results.filter(({ state }) => state === 'unchanged').map(({ name }) => name)
    await moveAsOf(engine, current, this.#moment.asOf)
    return results
  }

  async #one(engine: Engine, mart: Mart, all: boolean): Promise<MartResult> {
    const recorded = this.#recorded.get(mart.name)
    const hasTable = this.#tables.has(mart.name)
    const nothing = {
      name: mart.name,
      rows: hasTable ? Number(recorded?.rows) : null,
      milliseconds: 0,
      findings: [],
    }
    const missing = martsRead(mart).find(name => this.#isBehind(name))
    if (missing) return { ...nothing, state: 'waiting', message: `it reads mart.${missing}` }
    const sources = await this.#sourcesOf(engine, mart)
    const isSame =
      recorded?.state === 'built' &&
      recorded.definition_id === mart.definitionId &&
      recorded.shape === shapeOf(mart)
    if (!all && hasTable && isSame && recorded.sources === sources)
      return { ...nothing, state: 'unchanged', message: null }
    this.#effects.onMart({ name: mart.name, state: 'building' })
    try {
      return await this.#rebuild(engine, mart, sources)
    } catch (error) {
      if (error instanceof DiskFull || error instanceof Interrupted) throw error
      const state = error instanceof Refused ? 'refused' : 'failed'
      const message = firstLineOf(error)
      await this.#recordFailure(engine, mart, { state, message })
      const findings = error instanceof Refused ? error.findings : []
      return { ...nothing, state, message, findings, ...(error instanceof Busy && { isHeldByOthers: true }) }
    }
  }

  async #rebuild(engine: Engine, mart: Mart, sources: string): Promise<MartResult> {
    const { clock, gate } = this.#effects
    const rebuilt = await rebuildMart({
      engine,
      mart,
      recorded: this.#recorded.get(mart.name),
      hasTable: this.#tables.has(mart.name),
      isFresh: isFresh(mart, this.#tables),
      sources,
      moment: this.#moment,
      runId: this.#runId,
      lease: this.#lease,
      gate,
      now: () => clock.now(),
    })
    this.#tables.add(mart.name)
    return { name: mart.name, state: 'built', message: null, ...rebuilt }
  }

  /** A mart that reads one of yesterday would mix two days. */
  #isBehind(name: string): boolean {
    const state = this.#results.get(name)?.state
    return state !== 'built' && state !== 'unchanged'
  }

  /** The marts that it reads were built by this build or before. */
  async #sourcesOf(engine: Engine, mart: Mart): Promise<string> {
    const built = martsRead(mart).length > 0 ? await recordedMarts(engine) : this.#recorded
    const builtAt = (name: string): string | null => built.get(name)?.built_at ?? null
    return sourcesOf(engine, mart, { state: this.#state, moment: this.#moment, builtAt })
  }

  /** Throws where another build took over: what failed is its business now. */
  async #recordFailure(engine: Engine, mart: Mart, failure: Failure): Promise<void> {
    await renewLease(engine, this.#lease)
    const tried = { name: mart.name, tried_at: instant(this.#effects.clock), run_id: this.#runId }
    await recordFailedMart(engine, this.#recorded.get(mart.name), { ...tried, ...failure })
  }

  /** Only tables that a build has recorded: others in the schema belong to somebody else. */
  async #removeStrays(declared: ReadonlySet<string>): Promise<void> {
    const { engine, onMart } = this.#effects
    for (const name of this.#recorded.keys()) {
      if (declared.has(name)) continue
      await removeMart(engine, name)
      const result = { name, ...removed }
      this.#results.set(name, result)
      onMart(result)
    }
  }
}

const counted = (marts: readonly MartResult[]): string => {
  const counts = new Map<string, number>()
  for (const { state } of marts) counts.set(state, (counts.get(state) ?? 0) + 1)
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
}

/**
 * Results of the marts in the order in which they were built. An error of a mart's SQL, of its key or of a check is in its
 * result. A full disk, a lost lease or an abort throws; marts built until then stay built.
 */
export async function buildMarts(effects: BuildEffects, request: BuildRequest): Promise<BuildResult> {
  const { engine, clock, rng, version } = effects
  const started = clock.now()
  const runId = newRunId(clock, rng)
  await migrate(engine, instant(clock))
  const given = [...request.names, ...(request.all ? ['--all'] : [])].join(' ')
  await startRun(engine, { runId, command: 'build', arguments: given, startedAt: instant(clock), version })
  const end = (change: { state: 'done' | 'failed'; message: string }): Promise<void> =>
    updateRun(engine, runId, { ...change, finished_at: instant(clock) })
  try {
    const lease = await takeLease(engine, { resource: martLease, holder: runId, ms: leaseMs, work: 'built' })
    try {
      const moment = await momentAt(engine, started, request.fiscalMonth)
      await settleCurrencies(engine, request, instant(clock))
      await keepAccrual(engine, moment, instant(clock))
      const marts = await new Build(effects, lease, moment).run(request)
      await addMartReferences(engine, request.marts, await martTables(engine))
      const isWhole = marts.every(({ state }) => ['built', 'unchanged', 'removed'].includes(state))
      await end({ state: isWhole ? 'done' : 'failed', message: counted(marts) })
      return { runId, asOf: moment.asOf, marts, milliseconds: Math.round(clock.now() - started) }
    } finally {
      await releaseLease(engine, lease)
    }
  } catch (error) {
    await end({ state: 'failed', message: firstLineOf(error) })
    throw error
  }
}
