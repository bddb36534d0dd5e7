/** Timesheets and expenses that change as syncs change them: merged, deleted, restored, told of by events. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { findResource } from '../../src/contract/catalogue.ts'
import { type Resource, rowsAt } from '../../src/contract/fields/resource.ts'
import { revive, tombstone } from '../../src/load/merge/tombstone.ts'
import { Pipeline } from '../../src/load/pipeline.ts'
import { stagePlan } from '../../src/load/read/plan.ts'
import { addToRun, startRun, updateRun } from '../../src/state/runs/runs.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

const few = (most: number) => fc.nat({ max: most })

const sheet = fc.record({
  id: few(7),
  worker: few(3),
  name: few(1),
  company: few(1),
  project: few(2),
  /** Weeks after the first one. */
  week: few(3),
  /** Days by which the week ends before Sunday. */
  early: fc.constantFrom(0, 0, 2),
  status: fc.constantFrom('approved', 'approved', 'pending_approval', 'cancelled'),
  hours: few(60),
  /** Whether its timelogs lie in the week before. */
  isLate: fc.boolean(),
  costCode: few(2),
})

const expense = fc.record({
  id: few(3),
  sheet: fc.option(few(7)),
  company: few(1),
  project: few(2),
  day: few(27),
  value: few(90),
  status: fc.constantFrom('approved', 'pending'),
})

export type SheetValues = typeof sheet extends fc.Arbitrary<infer Value> ? Value : never
type ExpenseValues = typeof expense extends fc.Arbitrary<infer Value> ? Value : never

/** An approved one of the first week. */
export const aSheet: SheetValues = {
  id: 0,
  worker: 0,
  name: 0,
  company: 0,
  project: 0,
  week: 0,
  early: 0,
  status: 'approved',
  hours: 40,
  isLate: false,
  costCode: 0,
}

/** What happens between two builds. */
export type Happening =
  | { readonly kind: 'sheets'; readonly sheets: readonly SheetValues[] }
  | { readonly kind: 'expenses'; readonly expenses: readonly ExpenseValues[] }
  | { readonly kind: 'delete' | 'restore'; readonly ids: readonly number[] }
  | { readonly kind: 'event'; readonly id: number; readonly hours: number }
  | { readonly kind: 'time'; readonly days: number }
  | { readonly kind: 'build' }

const ids = fc.uniqueArray(few(7), { minLength: 1, maxLength: 3 })

export const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('sheets' as const),
      sheets: fc.array(sheet, { minLength: 1, maxLength: 3 }),
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('expenses' as const),
      expenses: fc.array(expense, { minLength: 1, maxLength: 2 }),
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'restore' as const), ids }), weight: 3 },
  { arbitrary: fc.record({ kind: fc.constant('event' as const), id: few(7), hours: few(200) }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('time' as const), days: fc.constantFrom(1, 3, 8) }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('build' as const) }), weight: 5 },
)

const dayMs = 24 * 3_600_000
/** A Sunday. */
const firstWeek = Date.parse('2026-03-29T00:00:00Z')

const iso = (ms: number): string => new Date(ms).toISOString()
const ref = (kind: string, number: number, version = 0) => ({
  id: `${kind}${number}`,
  name: `${kind} ${number}, ${version}`,
})

export class LivingStar {
  readonly #folder = mkdtempSync(join(tmpdir(), 'muster-living-star-'))
  /** Milliseconds since the epoch; moves by a second with everything that happens. */
  now = Date.parse('2026-04-08T09:00:00Z')
  #pages = 0

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #inRun(engine: Engine, work: (runId: string) => Promise<void>): Promise<void> {
    this.now += 1000
    const runId = `run-${this.now}`
    await startRun(engine, {
      runId,
      command: 'sync',
      arguments: '',
      startedAt: iso(this.now),
      version: 'test',
    })
    await work(runId)
    await updateRun(engine, runId, { state: 'done', finished_at: iso(this.now) })
  }

  async #load(engine: Engine, name: string, records: readonly object[]): Promise<void> {
    const resource = findResource(name) as Resource
    await this.#inRun(engine, async runId => {
      this.#pages += 1
      const file = join(this.#folder, `${this.#pages}.json`)
      const bytes = Buffer.from(JSON.stringify({ data: records }))
      writeFileSync(file, bytes)
      const pipeline = new Pipeline({ engine, plan: stagePlan(resource) })
      const pages = [{ file, bytes: bytes.length, fetchedAt: iso(this.now), runId, scope: {} }]
      await pipeline.load({ pages, rows: rowsAt(resource) }, (engine, { merge }) =>
        engine.merge(async connection => {
          const loaded = await merge(connection)
          await addToRun(connection, runId, {
            records_read: loaded.records,
            rows_inserted: loaded.inserted,
            rows_changed: loaded.changed,
            rows_removed: loaded.removed,
          })
        }),
      )
      await pipeline.drained()
    })
  }

  #sheet(values: SheetValues): object {
    const { id, worker, name, company, project, week, early, status, hours, isLate, costCode } = values
    const end = firstWeek + (week * 7 - early) * dayMs
    const worked = iso(end - (isLate ? 8 : 1) * dayMs)
    return {
      id: `t${id}`,
      reference: `TS-${id}`,
      status,
      worker: ref('w', worker),
      company: ref('c', company),
      project: ref('p', project),
      site: ref('s', project),
      agency: ref('a', worker % 2, name),
      assignment: { id: `as${worker}`, reference: `AS-${worker}` },
      rateType: 'paye',
      weekEnding: iso(end),
      approvedDate: status === 'approved' ? iso(end + 2 * dayMs) : null,
      createdAt: iso(end),
      updatedAt: iso(this.now),
      version: 1,
      netHours: hours,
      values: { pay: { total: hours * 10 }, charge: { total: hours * 12 }, expense: 0 },
      timelogs: [0, 1].map(number => ({
        id: `l${id}-${number}`,
        status: 'approved',
        date: number === 0 ? worked : iso(end),
        hours: { standard: 8, overtime: number, total: 8 + number },
        values: { charge: { standard: 90, overtime: 0, total: 90 + hours } },
        costCodeAllocations: [
          { costCode: { name: `CC${costCode}`, description: 'Steel' }, hours: 4 + number },
        ],
      })),
    }
  }

  #expense({ id, sheet, company, project, day, value, status }: ExpenseValues): object {
    return {
      id: `e${id}`,
      status,
      category: 'Fuel',
      date: iso(firstWeek + (day - 6) * dayMs),
      value,
      worker: ref('w', 0),
      company: ref('c', company),
      project: ref('p', project),
      agency: ref('a', 0),
      costCode: { name: `CC${value % 3}`, description: 'Steel' },
      ...(sheet !== null && { timesheet: { id: `t${sheet}` } }),
      createdAt: iso(firstWeek),
      updatedAt: iso(this.now),
    }
  }

  /** As a sweep does: in a merge, and counted by its run. */
  async #turn(engine: Engine, kind: 'delete' | 'restore', given: readonly number[]): Promise<void> {
    const plan = stagePlan(findResource('timesheets') as Resource)
    await this.#inRun(engine, runId =>
      engine.merge(async engine => {
        const stored = await engine.rows<{ id: string }>(
          `select timesheet_id as id from star.fact_timesheet
           where ${kind === 'delete' ? 'not' : ''} is_deleted and timesheet_id in (${given.map(id => `'t${id}'`).join(', ')})`,
        )
        const rows = stored.map(({ id }) => ({ id, at: iso(this.now) }))
        await (kind === 'delete' ? tombstone(engine, plan, rows) : revive(engine, plan, rows))
        await addToRun(engine, runId, { records_read: 1, rows_removed: rows.length })
      }),
    )
  }

  async happen(engine: Engine, what: Happening): Promise<void> {
    this.now += 1000
    if (what.kind === 'sheets') {
      // Of two versions on a page the last would be kept: one is enough.
      const sheets = [...new Map(what.sheets.map(one => [one.id, one])).values()]
      await this.#load(
        engine,
        'timesheets',
        sheets.map(one => this.#sheet(one)),
      )
    } else if (what.kind === 'expenses') {
      const expenses = [...new Map(what.expenses.map(one => [one.id, one])).values()]
      await this.#load(
        engine,
        'expenses',
        expenses.map(one => this.#expense(one)),
      )
    } else if (what.kind === 'delete' || what.kind === 'restore')
      await this.#turn(engine, what.kind, what.ids)
    else if (what.kind === 'event')
      await engine.run(
        `insert into star.fact_webhook_event (event_id, type, entity, record_id, created_at, received_at, delivered_count, signature_ok, state, loaded_at)
         values ('ev${this.now}', 'timesheet_approval_requested', 'timesheet', 't${what.id}', $1, $2, 1, true, 'done', $2)`,
        [iso(firstWeek + what.hours * 3_600_000), iso(this.now)],
      )
    else if (what.kind === 'time') this.now += what.days * dayMs
  }
}
