/**
 * Builds marts whose inputs changed, each in its own transaction after the marts it reads; a failed one keeps
 * the previous rows.
 */
import type { Clock } from '../lib/clock.ts'
import { hourMs } from '../lib/dates.ts'
import { Busy, DiskFull, firstLineOf, StatementInterrupted } from '../lib/errors.ts'
import type { Rng } from '../lib/rng.ts'
import { moveAsOf, recordedMarts, recordFailedMart } from '../state/marts/marts.ts'
import { type SourceState, sourceState } from '../state/marts/source-state.ts'
import type { MartRow } from '../state/marts/tables.ts'
import { migrate } from '../state/migrate.ts'
import { type Lease, martLease, releaseLease, renewLease, takeLease } from '../state/runs/leases.ts'
import { newRunId, startRun, updateRun } from '../state/runs/runs.ts'
import type { Engine } from '../warehouse/engine.ts'
import { type CurrencySettings, settleCurrencies } from './currencies.ts'
import { type ReportingTime, readReportingTime } from './inputs.ts'
import { inOrder, type Mart, martsRead, withSources } from './mart.ts'
import { keepAccrual } from './month-end.ts'
import { type CheckFinding, type MartGate, RebuildRefused, rebuildMart, removeMart } from './rebuild.ts'
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
  readonly findings: readonly CheckFinding[]
  readonly message: string | null
  readonly isLocked?: boolean
}

export interface BuildRequest extends CurrencySettings {
  readonly marts: readonly Mart[]
  /** Only these marts and those they read; all when empty. */
  readonly names: readonly string[]
  /** Also build marts whose inputs have not changed. */
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
  readonly gate: MartGate
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

type MartFailure = Pick<MartRow, 'state' | 'message'>

class Build {
  readonly #effects: BuildEffects
  readonly #lease: Lease
  readonly #time: ReportingTime
  readonly #runId: string
  readonly #results = new Map<string, MartResult>()
  /** Rows of the ledger, one a mart. */
  #recorded: ReadonlyMap<string, MartRow> = new Map()
  /** Names of the tables in the schema. */
  #tables = new Set<string>()
  /** State before any mart is built. */
  #state: SourceState = { structure: '', writes: new Map() }

  constructor(effects: BuildEffects, lease: Lease, time: ReportingTime) {
    this.#effects = effects
    this.#lease = lease
    this.#time = time
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
    await moveAsOf(engine, current, this.#time.asOf)
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
      if (error instanceof DiskFull || error instanceof StatementInterrupted) throw error
      const state = error instanceof RebuildRefused ? 'refused' : 'failed'
      const message = firstLineOf(error)
      await this.#recordFailure(engine, mart, { state, message })
      const findings = error instanceof RebuildRefused ? error.findings : []
      return { ...nothing, state, message, findings, ...(error instanceof Busy && { isLocked: true }) }
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
      time: this.#time,
      runId: this.#runId,
      lease: this.#lease,
      gate,
      now: () => clock.now(),
    })
    this.#tables.add(mart.name)
    return { name: mart.name, state: 'built', message: null, ...rebuilt }
  }

  /** Whether a mart was not rebuilt: one that reads it would mix two days. */
  #isBehind(name: string): boolean {
    const state = this.#results.get(name)?.state
    return state !== 'built' && state !== 'unchanged'
  }

  /** Identifies the inputs of a mart; the marts that it reads are already built. */
  async #sourcesOf(engine: Engine, mart: Mart): Promise<string> {
    const built = martsRead(mart).length > 0 ? await recordedMarts(engine) : this.#recorded
    const builtAt = (name: string): string | null => built.get(name)?.built_at ?? null
    return sourcesOf(engine, mart, { state: this.#state, time: this.#time, builtAt })
  }

  /** Throws if another build took over, which then owns the failure. */
  async #recordFailure(engine: Engine, mart: Mart, failure: MartFailure): Promise<void> {
    await renewLease(engine, this.#lease)
    const tried = { name: mart.name, tried_at: instant(this.#effects.clock), run_id: this.#runId }
    await recordFailedMart(engine, this.#recorded.get(mart.name), { ...tried, ...failure })
  }

  /** Removes only tables that a build has recorded: others in the schema belong to the operator. */
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
 * Returns the results of the marts in build order. A mart's result holds any error of its SQL, its key or a check. A
 * full disk, a lost lease or an abort throws; marts built before that stay.
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
      const time = await readReportingTime(engine, started, request.fiscalMonth)
      await settleCurrencies(engine, request, instant(clock))
      await keepAccrual(engine, time, instant(clock))
      const marts = await new Build(effects, lease, time).run(request)
      await addMartReferences(engine, request.marts, await martTables(engine))
      const isComplete = marts.every(({ state }) => ['built', 'unchanged', 'removed'].includes(state))
      await end({ state: isComplete ? 'done' : 'failed', message: counted(marts) })
      return { runId, asOf: time.asOf, marts, milliseconds: Math.round(clock.now() - started) }
    } finally {
      await releaseLease(engine, lease)
    }
  } catch (error) {
    await end({ state: 'failed', message: firstLineOf(error) })
    throw error
  }
}
