/** Which resources are not whole, for every state of the ledger that tells: each reason, and what ends it. */
import { expect, test } from 'vitest'
import { recordAccess } from '../../src/state/requests/key-state.ts'
import { noFigures, recordResource, recordRun, startRun, updateRun } from '../../src/state/runs/runs.ts'
import type { RunResourceRow, RunRow } from '../../src/state/runs/tables.ts'
import { incompleteResources } from '../../src/state/scans/completeness.ts'
import { freshScan, openScan, retireScans, updateScan } from '../../src/state/scans/scans.ts'
import { openSweep } from '../../src/state/scans/sweeps.ts'
import type { ScanRow, SweepRow } from '../../src/state/scans/tables.ts'
import { moveWatermark } from '../../src/state/scans/watermarks.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

const at = (hour: number): string => `2026-11-02T${String(hour).padStart(2, '0')}:00:00.000Z`

/** The ledger of one resource, written an hour at a time. */
class Story {
  readonly #engine: Engine
  readonly #resource: string
  #hour = 0

  constructor(engine: Engine, resource: string) {
    this.#engine = engine
    this.#resource = resource
  }

  get reasons(): Promise<string[]> {
    return incompleteResources(this.#engine).then(found =>
      (found ?? []).filter(({ resource }) => resource === this.#resource).map(({ reason }) => reason),
    )
  }

  at(hour: number): this {
    this.#hour = hour
    return this
  }

  async run(state: RunResourceRow['state'], command = 'sync'): Promise<this> {
    this.#hour += 1
    const runId = `${this.#resource}-${this.#hour}`
    const run = { runId, command, arguments: '', startedAt: at(this.#hour), version: 'test' }
    await startRun(this.#engine, run)
    await updateRun(this.#engine, runId, { state: 'done', finished_at: at(this.#hour) })
    const { retries, ...figures } = noFigures
    await recordResource(this.#engine, {
      ...figures,
      run_id: runId,
      resource: this.#resource,
      state,
      note: null,
    })
    return this
  }

  async scan(facts: Partial<ScanRow> & Pick<ScanRow, 'kind' | 'state'>): Promise<string> {
    this.#hour += 1
    const id = `${this.#resource}-scan-${this.#hour}`
    const base = { scan_id: id, resource: this.#resource, run_id: 'run', started_at: at(this.#hour) }
    await openScan(this.#engine, freshScan({ ...base, ...facts }))
    return id
  }

  async sweep(state: SweepRow['state'], facts: Partial<SweepRow> = {}): Promise<void> {
    this.#hour += 1
    const id = `${this.#resource}-sweep-${this.#hour}`
    const figures = { total: 0, seen: 0, judged: 0, missing: 0, note: null, ended_at: at(this.#hour) }
    const base = { sweep_id: id, resource: this.#resource, scope_id: 's', run_id: 'run', earliest_day: null }
    await openSweep(this.#engine, { ...base, ...figures, state, started_at: at(this.#hour), ...facts })
  }

  async watermark(isBackfilled: boolean, total = 650): Promise<void> {
    await moveWatermark(this.#engine, this.#resource, {
      backfilled_at: isBackfilled ? at(this.#hour) : null,
      remembered_total: total,
      run_id: 'run',
      moved_at: at(this.#hour),
    })
  }
}

describeOnEngines(
  'a resource',
  bench => {
    test('whose list was never read completely, and then is', async () => {
      const { engine } = await bench.warehouse()
      const list = new Story(engine, 'timesheets')
      expect(await list.reasons).toEqual([])
      await list.run('failed')
      expect(await list.reasons).toEqual(['the last reading failed'])
      await list.watermark(false)
      expect(await list.reasons).toEqual(['never read completely: saw 0 of 650'])
      await list.scan({ kind: 'backfill', state: 'accepted', distinct_ids: 200, expected_ids: 200 })
      const refused = { kind: 'backfill', state: 'refused', to_day: '2026-01-01' } as const
      const second = await list.scan({
        ...refused,
        distinct_ids: 150,
        expected_ids: 450,
      })
      expect(await list.reasons).toEqual(['never read completely, a window was refused: saw 350 of 650'])
      await list.scan({ ...refused, from_day: '2026-01-01' })
      expect(await list.reasons).toEqual(['never read completely, 2 windows were refused: saw 350 of 650'])
      await updateScan(engine, second, { state: 'accepted', accepted_at: at(9) })
      await list.watermark(true)
      expect(await list.reasons).toEqual([])
      // The key sees more than it did: everything is read again from the beginning.
      await retireScans(engine, 'timesheets')
      await list.watermark(false)
      expect(await list.reasons).toEqual(['never read completely: saw 0 of 650'])
    })

    test('whose last scan of changes was not accepted', async () => {
      const { engine } = await bench.warehouse()
      const list = new Story(engine, 'users')
      await list.watermark(true)
      const cut = await list.scan({ kind: 'incremental', state: 'scanning' })
      // Being read: nothing is known to be missing before the run has ended.
      expect(await list.reasons).toEqual([])
      await list.run('stopped')
      expect(await list.reasons).toEqual(['the last scan of changes did not reach its end'])
      await updateScan(engine, cut, { state: 'refused', distinct_ids: 3, expected_ids: 5 })
      expect(await list.reasons).toEqual(['the last scan of changes was refused: saw 3 of 5'])
      await list.scan({ kind: 'backfill', state: 'accepted', scope: 'asked for' })
      await list.run('done', 'backfill')
      expect(await list.reasons).toEqual(['the last scan of changes was refused: saw 3 of 5'])
      await list.scan({ kind: 'incremental', state: 'accepted' })
      expect(await list.reasons).toEqual([])
    })

    test('whose days were read again and refused, until they are covered', async () => {
      const { engine } = await bench.warehouse()
      for (const [name, end] of [
        ['expenses', { from_day: '2026-01-01', to_day: null }],
        ['invoices', { from_day: null, to_day: null }],
        ['projects', undefined],
      ] as const) {
        const list = new Story(engine, name)
        await list.watermark(true)
        const days = { from_day: '2026-01-05', to_day: '2026-01-09', scope: 'asked for' }
        await list.scan({ kind: 'backfill', state: 'refused', ...days, distinct_ids: 1, expected_ids: 2 })
        await list.scan({ kind: 'backfill', state: 'accepted', ...days, to_day: '2026-01-08' })
        const told = ['days read again were refused, 2026-01-05 to 2026-01-09: saw 1 of 2']
        expect(await list.reasons).toEqual(told)
        await list.run('done')
        await list.scan({ kind: 'incremental', state: 'accepted' })
        expect(await list.reasons).toEqual(told)
        if (end) await list.scan({ kind: 'backfill', state: 'accepted', scope: 'asked for', ...end })
        else await list.sweep('accepted')
        expect(await list.reasons).toEqual([])
      }
    })

    test('that the sync after one that died did not come to', async () => {
      const { engine } = await bench.warehouse()
      const list = new Story(engine, 'invoices')
      const sync = { command: 'sync', arguments: '', version: 'test' }
      // Of a process that is not there any more: it had read the list, and nothing tells when it died.
      await recordRun(engine, { ...sync, runId: 'died', startedAt: at(1) })
      const { retries, ...figures } = noFigures
      const read = { ...figures, run_id: 'died', resource: 'invoices', state: 'done', note: null } as const
      await recordResource(engine, read)
      await list.watermark(true)
      await list.scan({ kind: 'incremental', state: 'accepted' })
      await startRun(engine, { ...sync, runId: 'next', startedAt: at(5) })
      await updateRun(engine, 'next', { state: 'failed', finished_at: at(5) })
      expect(await list.reasons).toEqual(['not reached before the last sync ended'])
      const runs = 'select run_id, state, finished_at from ops.run order by run_id'
      expect(await engine.rows(runs)).toEqual([
        { run_id: 'died', state: 'failed', finished_at: null },
        { run_id: 'next', state: 'failed', finished_at: at(5) },
      ])
    })

    test('that a sync was to read and did not come to, until one reads it', async () => {
      const { engine } = await bench.warehouse()
      const [list, other] = [new Story(engine, 'invoices'), new Story(engine, 'users')]
      const unread = ['not reached before the last sync ended']
      await list.run('done')
      await list.watermark(true)
      await list.scan({ kind: 'incremental', state: 'accepted' })
      const sync = async (hour: number, state: RunRow['state'], given = 'sync') => {
        const runId = `of-${hour}`
        const [command = '', ...args] = given.split(' ')
        const run = { runId, command, arguments: args.join(' ') }
        await startRun(engine, { ...run, startedAt: at(hour), version: 'test' })
        await updateRun(engine, runId, { state, finished_at: state === 'running' ? null : at(hour) })
      }
      await sync(5, 'running')
      expect(await list.reasons).toEqual([])
      for (const [hour, state] of [
        [6, 'failed'],
        [7, 'stopped'],
        [8, 'incomplete'],
      ] as const) {
        await sync(hour, state)
        expect(await list.reasons).toEqual(unread)
      }
      // Nothing was ever read of it, and it was to be.
      expect(await other.reasons).toEqual(unread)
      await sync(9, 'failed', 'backfill invoices')
      await list.at(10).run('done')
      expect(await list.reasons).toEqual([])
      expect(await other.reasons).toEqual(unread)
      await sync(12, 'failed', 'sync users invoices-of-others')
      expect(await list.reasons).toEqual([])
      await sync(13, 'failed', 'sync users invoices')
      expect(await list.reasons).toEqual(unread)
      // It was at work when that one found the lease taken.
      await updateRun(engine, 'invoices-11', { finished_at: at(14) })
      expect(await list.reasons).toEqual([])
    })

    test('that was swept without proof, or of which a sweep saw more than is stored', async () => {
      const { engine } = await bench.warehouse()
      const list = new Story(engine, 'sites')
      await list.watermark(true)
      await list.sweep('implausible', { judged: 19, missing: 19 })
      expect(await list.reasons).toEqual([
        'the last sweep found too many records missing to believe it: saw 0 of 19',
      ])
      await list.sweep('refused', { note: 'the list did not settle' })
      await list.sweep('sweeping')
      expect(await list.reasons).toEqual(['the last sweep was refused: the list did not settle'])
      await list.sweep('accepted')
      expect(await list.reasons).toEqual([])
      const unread = `insert into ops.unread (resource, record_id, noted_at) values ('sites', 'a', '${at(1)}'), ('sites', 'b', '${at(1)}')`
      await engine.run(unread)
      expect(await list.reasons).toEqual(['records known to be missing or out of date: 2'])
      await engine.run('delete from ops.unread')
      expect(await list.reasons).toEqual([])
    })

    test('without a list of changes, by the end of the last run that read all of it', async () => {
      const { engine } = await bench.warehouse()
      const trades = new Story(engine, 'trades')
      const states = ['stored', 'never fetched', 'missing', 'refused', 'refused'] as const
      const reasons = [null, null, null, 'it is another name of x', 'the key may not read this (403)']
      for (const [place, state] of states.entries())
        await engine.run(
          `insert into ops.discovered (resource, record_id, source, first_seen_at, state, state_since, reason, fetches, failed_fetches, changes, exposure_days, signals)
           values ('trades', $1, 'x', '${at(1)}', $2, '${at(1)}', $3, 0, 0, 0, 0, 0)`,
          [`t${place}`, state, reasons[place] ?? null],
        )
      await trades.run('done')
      expect(await trades.reasons).toEqual([])
      for (const [state, words] of [
        ['stopped', 'was stopped before its end'],
        ['incomplete', 'was incomplete'],
        ['failed', 'failed'],
      ] as const) {
        await trades.run(state)
        // Neither a record that is missing at the source nor a second name of one is waited for.
        expect(await trades.reasons).toEqual([`the last reading ${words}: saw 1 of 3`])
      }
      await trades.run('done', 'serve')
      expect(await trades.reasons).toHaveLength(1)
      await trades.run('done')
      await trades.run('failed', 'serve')
      expect(await trades.reasons).toEqual([])
    })

    test('is not waited for when the key may not read it, unless it could before', async () => {
      const { engine } = await bench.warehouse()
      const list = new Story(engine, 'users')
      await list.watermark(false)
      const tell = (state: 'readable' | 'refused' | 'no longer readable' | 'not for this kind of key') =>
        recordAccess(engine, {
          ...{ resource: 'users', key_kind: 'agency', way: 'list', state },
          ...{ reason: null, checked_at: at(1) },
        })
      await tell('readable')
      expect(await list.reasons).toHaveLength(1)
      await tell('refused')
      expect(await list.reasons).toEqual([])
      await tell('not for this kind of key')
      expect(await list.reasons).toEqual([])
      await tell('no longer readable')
      expect(await list.reasons).toEqual([
        'never read completely: saw 0 of 650',
        'the key may no longer read it',
      ])
    })
  },
  'all',
)
