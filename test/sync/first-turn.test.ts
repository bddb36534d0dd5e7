/** How soon a run learns the ids that records name: its estimates rest on them. */
import { expect, test } from 'vitest'
import { signal } from '../../src/state/by-id/discovered.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { at, byId, heard, movedClock } from './by-id.ts'

describeOnEngines('the first turn', bench => {
  test('is ten records of a resource: what they name is known after them', async () => {
    const company = { id: 'c1', name: 'Company 1' }
    const times = { company, createdAt: at, updatedAt: at }
    const places = Array.from({ length: 60 }, (_, place) => place)
    const assignments = places.map(place => ({
      id: `a${place}`,
      requisition: { id: `r${place}`, reference: `R${place}` },
      ...times,
    }))
    const requisitions = places.map(place => ({ id: `r${place}`, reference: `R${place}`, ...times }))
    const sandbox = await openSandbox({
      records: { companies: [{ ...company, updatedAt: at }], assignments, requisitions },
    })
    const warehouse = await bench.warehouse()
    await signal(
      warehouse.engine,
      assignments.map(({ id }) => heard('assignments', id)),
    )
    const request = { resources: ['requisitions', 'assignments'] }
    const { failure } = await syncOnce(sandbox, warehouse, { request, effects: { clock: movedClock() } })
    expect(failure).toBeUndefined()
    const asked = byId(sandbox.requests).map(path => path.split('/')[1])
    expect(asked.slice(0, 11)).toEqual([...Array(10).fill('assignments'), 'requisitions'])
    expect(asked).toHaveLength(120)
  })
})
