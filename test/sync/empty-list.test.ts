/** A list that had rows and has none: nothing is deleted, and it is said until it has rows again or a sweep proved it. */

import { expect, test } from 'vitest'
import { findResource } from '../../src/contract/catalogue.ts'
import { usualZone } from '../../src/lib/zones.ts'
import { everyCheck } from '../../src/marts/checks/gate.ts'
import { failedRows, runCheck } from '../../src/marts/checks/run.ts'
import { resourceState } from '../../src/state/runs/resource-state.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../warehouse/fixture.ts'
import { plainMakers, plainRecords, timeOf } from './plain-records.ts'

const gone = { quirks: { empty: 'yes' } } as const
const lists = ['invoices', 'timesheets']
const check = everyCheck([]).find(({ name }) => name === 'lists_have_rows')!
const at = '2026-11-02T02:30:00.000Z'

describeOnEngines(
  'a list that is shown as empty',
  bench => {
    test('keeps its rows with a warning, until it has rows again or a sweep proved that they are deleted', async () => {
      // Only changes of timesheets are asked for, so that an empty answer alone says little of them.
      const sandbox = await openSandbox({ records: plainRecords({ invoices: 19, timesheets: 230 }) })
      const warehouse = await bench.warehouse()
      const { engine } = warehouse
      const sync = () => syncOnce(sandbox, warehouse, { request: { resources: ['key', ...lists] } })
      const sweep = (most?: number) =>
        syncOnce(sandbox, warehouse, {
          request: { command: 'sweep', resources: ['invoices'], sweep: most === undefined ? {} : { most } },
        })
      const told = async (): Promise<string[]> => {
        const { failure, resources } = await sync()
        expect(failure).toBeUndefined()
        const notes = resources.flatMap(({ resource, note }) =>
          note?.startsWith('the service shows an empty list') ? [resource] : [],
        )
        const { failures } = await runCheck(engine, check, {
          asOf: at,
          today: at.slice(0, 10),
          zone: usualZone,
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
      await sync()
      expect(await told()).toEqual([])
      sandbox.setQuirks({ invoices: gone.quirks, timesheets: gone.quirks })
      expect(await told()).toEqual(lists)
      expect(await told()).toEqual(lists)
      for (let night = 0; night < 3; night += 1)
        expect((await sweep()).failure?.message).toMatch(
          /^19 of 19 invoices are missing at once: no tombstone/,
        )
      const live = async () =>
        (
          await engine.rows<{ n: number }>('select count(*) as n from star.fact_invoice where not is_deleted')
        )[0]?.n
      expect(Number(await live())).toBe(19)
      sandbox.setQuirks({ invoices: gone.quirks })
      sandbox.world.upsert('timesheets', { ...plainMakers.timesheets(7), updatedAt: timeOf(900) })
      expect(await told()).toEqual(['invoices'])
      await sweep(19)
      expect((await sweep(19)).failure).toBeUndefined()
      expect(Number(await live())).toBe(0)
      expect(await told()).toEqual([])
    }, 60_000)
  },
  'postgres',
)
