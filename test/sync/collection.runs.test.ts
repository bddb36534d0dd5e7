/** What a collection holds after a sync, whatever it was like before: empty, cut off, or with a time that cannot be. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../support/long-suite.ts'
import { describeOnEngines, rowsTouched, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'
import { type PlainCollection, plainMakers, plainRecords, timeOf } from './plain-records.ts'

const roomy = { rateLimitPerMinute: 100_000, rateLimitPerDay: 1_000_000 }
const places = {
  timesheets: 'timesheet_id as id, status, updated_at from star.fact_timesheet',
  invoices: 'invoice_id as id, status, updated_at from star.fact_invoice',
} as const
const collections = Object.keys(places) as (keyof typeof places)[]

async function openSource(warehouse: Warehouse, name: keyof typeof places, count: number) {
  const sandbox = await openSandbox({
    records: plainRecords({ [name]: count } as Partial<Record<PlainCollection, number>>),
    ...roomy,
  })
  return {
    sync: (limits = {}) => syncOnce(sandbox, warehouse, { request: { resources: [name], limits } }),
    change(from: number, to: number, at: (place: number) => string) {
      for (let place = from; place < to; place += 1)
        sandbox.world.upsert(name, { ...plainMakers[name](place), status: 'changed', updatedAt: at(place) })
    },
    /** Records of the service that the warehouse does not hold as they are. */
    async lacking(): Promise<number> {
      const rows = await warehouse.engine.rows<Record<string, string>>(`select ${places[name]}`)
      const held = new Set(rows.map(row => Object.values(row).join(' ')))
      const records = sandbox.world.all(name)
      return records.filter(one => !held.has(`${one.id} ${one.status} ${one.updatedAt}`)).length
    },
  }
}

describeOnEngines('a collection', bench => {
  for (const name of collections) {
    const isQuick = name === 'invoices'
    test.runIf(thorough || isQuick)(
      `of ${name} that was empty at first is read when it has some`,
      async () => {
        const { sync, change, lacking } = await openSource(await bench.warehouse(), name, 0)
        for (let night = 0; night < 2; night += 1) expect(rowsTouched(await sync())).toBe(0)
        change(0, 3, timeOf)
        expect(rowsTouched(await sync())).toBe(3)
        // Of two the time of change alone moves.
        change(1, 4, place => timeOf(place + 5))
        expect(rowsTouched(await sync())).toBe(1)
        expect(await lacking()).toBe(0)
      },
    )

    test.runIf(thorough || !isQuick)(`of ${name} with a time in the far future is read on`, async () => {
      const { sync, change, lacking } = await openSource(await bench.warehouse(), name, 450)
      change(5, 6, () => '2999-12-31T00:00:00.000Z')
      await sync()
      change(10, 260, place => timeOf(500 + place))
      expect((await sync()).failure).toBeUndefined()
      expect(await lacking()).toBe(0)
      change(5, 6, () => timeOf(800))
      await sync()
      expect(await lacking()).toBe(0)
    })
  }

  test('holds what changes at the time of its watermark, although the clock of the service is far behind ours', async () => {
    const { sync, change, lacking } = await openSource(await bench.warehouse(), 'invoices', 410)
    const watermark = () => timeOf(500)
    change(0, 380, watermark)
    for (let night = 0; night < 2; night += 1) await sync()
    change(380, 410, watermark)
    await sync()
    expect(await lacking()).toBe(0)
  })

  test('holds all that was changed before a sync began, also when it finishes what another left', async () => {
    const { sync, change, lacking } = await openSource(await bench.warehouse(), 'timesheets', 700)
    await sync()
    change(0, 450, place => timeOf(1000 + place))
    expect((await sync({ maxRequests: 3 })).failure?.exitCode).toBe(75)
    change(440, 460, place => timeOf(2000 + place))
    expect((await sync()).failure).toBeUndefined()
    expect(await lacking()).toBe(0)
  })

  test.runIf(thorough)('holds it after a first sync of several runs as well', async () => {
    const { sync, change, lacking } = await openSource(await bench.warehouse(), 'timesheets', 700)
    expect((await sync({ maxRequests: 4 })).failure?.exitCode).toBe(75)
    change(440, 700, place => timeOf(2000 + place))
    expect((await sync()).failure).toBeUndefined()
    expect(await lacking()).toBe(0)
  })
})
