/** A list that had rows and has none: nothing is deleted, and it is said until it has rows again or a sweep proved it. */

import { expect, test } from 'vitest'
import { findResource } from '../../src/contract/catalogue.ts'
import { defaultDays } from '../../src/lib/day-rule.ts'
import { everyCheck } from '../../src/marts/checks/gate.ts'
import { failedRows, runCheck } from '../../src/marts/checks/run.ts'
import { resourceState } from '../../src/state/runs/resource-state.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { type Bench, describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { plainMakers, plainRecords, timeOf } from './plain-records.ts'

const gone = { quirks: { empty: 'yes' } } as const
const lists = ['invoices', 'timesheets']
const check = everyCheck([]).find(({ name }) => name === 'lists_have_rows')!
const at = '2026-11-02T02:30:00.000Z'

/** Invoices and timesheets that sync and are swept, and the lists that a sync reports as empty. */
async function openLists(bench: Bench) {
  // Only changes of timesheets are asked for, so that an empty answer alone says little of them.
  const sandbox = await openSandbox({
    records: plainRecords({ invoices: 19, timesheets: 230 }),
    quirks: {},
  })
  const warehouse = await bench.warehouse()
  const { engine } = warehouse
  const sync = () => syncOnce(sandbox, warehouse, { request: { resources: ['key', ...lists] } })
  const sweep = (maxDeletions?: number) =>
    syncOnce(sandbox, warehouse, {
      request: {
        command: 'sweep',
        resources: ['invoices'],
        sweep: maxDeletions === undefined ? {} : { maxDeletions },
      },
    })
  /** By the notes of a sync; the check and the ledger must agree with them. */
  const shownAsEmpty = async (): Promise<string[]> => {
    const { failure, resources } = await sync()
    expect(failure).toBeUndefined()
    const notes = resources.flatMap(({ resource, note }) =>
      note?.startsWith('the service returns an empty list') ? [resource] : [],
    )
    const { failures } = await runCheck(engine, check, {
      asOf: at,
      today: at.slice(0, 10),
      ...defaultDays,
      now: at,
    })
    expect(failedRows({ failures } as never)).toBe(notes.length)
    const states = []
    for (const name of lists) states.push(await resourceState(engine, findResource(name)!))
    expect(states.flatMap(({ resource, emptySince }) => (emptySince === null ? [] : [resource]))).toEqual(
      notes.sort(),
    )
    return notes
  }
  const liveInvoices = async (): Promise<number> => {
    const [row] = await engine.rows<{ n: number }>(
      'select count(*) as n from star.fact_invoice where not is_deleted',
    )
    return Number(row?.n)
  }
  return { sandbox, sync, sweep, shownAsEmpty, liveInvoices }
}

describeOnEngines(
  'a list that is shown as empty',
  bench => {
    test('keeps its rows with a warning, until it has rows again or a sweep proved that they are deleted', async () => {
      const { sandbox, sync, sweep, shownAsEmpty, liveInvoices } = await openLists(bench)
      await sync()
      expect(await shownAsEmpty(), 'after the first sync').toEqual([])

      sandbox.setQuirks({ invoices: gone.quirks, timesheets: gone.quirks })
      expect(await shownAsEmpty(), 'once both lists are empty').toEqual(lists)
      expect(await shownAsEmpty(), 'at the next sync').toEqual(lists)
      for (const time of ['first', 'second', 'third'])
        expect((await sweep()).failure?.message, `the ${time} sweep`).toMatch(
          /^refusing to delete 19 of 19 invoices at once/,
        )
      expect(await liveInvoices(), 'after three sweeps').toBe(19)

      sandbox.setQuirks({ invoices: gone.quirks })
      sandbox.world.upsert('timesheets', { ...plainMakers.timesheets(7), updatedAt: timeOf(900) })
      expect(await shownAsEmpty(), 'once timesheets are shown again').toEqual(['invoices'])

      await sweep(19)
      expect((await sweep(19)).failure, 'the second sweep that may delete 19').toBeUndefined()
      expect(await liveInvoices(), 'after these sweeps').toBe(0)
      expect(await shownAsEmpty(), 'once the deletion is proved').toEqual([])
    }, 60_000)
  },
  'postgres',
)
