/** Keys of agencies: what they may read arrives, dimensions come from references, and a company key can follow. */
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { World } from '../../src/sandbox/world.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../support/long-suite.ts'
import { tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'
import { deleted } from './sweeping.ts'

const facts = ['timesheet', 'expense', 'invoice'] as const
const dimensions = ['company', 'project', 'site', 'trade', 'agency', 'worker'] as const

const agenciesOf = (world: World, count: number): Set<string> =>
  new Set(
    world
      .all('agencies')
      .slice(0, count)
      .map(({ id }) => String(id)),
  )

const agencyOf = (record: object): string => String((record as { agency?: { id: string } }).agency?.id)

const own = (world: World, name: 'timesheets' | 'expenses', count: number): string[] =>
  world
    .all(name)
    .filter(record => agenciesOf(world, count).has(agencyOf(record)))
    .map(({ id }) => String(id))

async function ids({ engine }: Warehouse, fact: (typeof facts)[number]): Promise<string[]> {
  const rows = await engine.rows<{ id: string }>(
    `select ${fact}_id as id from star.fact_${fact} where not is_deleted`,
  )
  return rows.map(({ id }) => id)
}

/** Members that facts name and no row tells anything of. */
async function nameless({ engine }: Warehouse): Promise<string[]> {
  const found: string[] = []
  for (const dimension of ['company', 'project', 'site', 'agency', 'worker']) {
    const key = `${dimension}_id`
    const [row] = await engine.rows<{ named: number; missing: number }>(
      `select count(*) as named, count(*) filter (where d.${key} is null${dimension === 'worker' ? '' : ' or d.name is null'}) as missing
       from star.fact_timesheet f left join star.dim_${dimension} d on d.${key} = f.${key} where f.${key} <> '-1'`,
    )
    if (Number(row?.missing) > 0 || Number(row?.named) === 0)
      found.push(`${dimension} ${JSON.stringify(row)}`)
  }
  return found
}

/** Snapshots are for company keys only, and take their time. */
const resources = ['key', 'companies', 'projects', 'sites', 'users', 'timesheets', 'expenses', 'invoices']

const sorted = (list: readonly string[]): string[] => [...list].sort()

const liveSites = async ({ engine }: Warehouse): Promise<string[]> =>
  (
    await engine.rows<{ id: string }>(
      `select site_id as id from star.dim_site where not is_inferred and site_id <> '-1' and not is_deleted order by 1`,
    )
  ).map(({ id }) => id)

describeOnEngines('sites', bench => {
  test('that records name are read by id for an agency key, and listed for a company key that follows', async () => {
    const sandbox = await openSandbox({ scale: 0.02 })
    const warehouse = await bench.warehouse()
    const request = { resources: ['key', 'timesheets', 'sites'] }
    const agency = { connection: { apiKey: sandboxKeys.agency }, request }
    const first = await syncOnce(sandbox, warehouse, agency)
    expect(first.failure).toBeUndefined()
    expect(first.resources.find(({ resource }) => resource === 'sites')?.state).toBe('done')
    const named = new Set(
      sandbox.world
        .all('timesheets')
        .filter(record => agenciesOf(sandbox.world, 1).has(agencyOf(record)))
        .flatMap(record => (record as { site?: { id: string } }).site?.id ?? []),
    )
    expect(named.size).toBeGreaterThan(0)
    expect(await liveSites(warehouse)).toEqual([...named].sort())
    const asked = sandbox.requests.filter(({ path }) => path.startsWith('/sites'))
    expect(asked.map(({ path }) => path).sort()).toEqual([...named].map(id => `/sites/${id}`).sort())
    const before = sandbox.requests.length
    expect((await syncOnce(sandbox, warehouse, agency)).failure).toBeUndefined()
    expect(sandbox.requests.slice(before).filter(({ path }) => path.startsWith('/sites'))).toEqual([])
    const company = { connection: { apiKey: sandboxKeys.company }, request }
    expect((await syncOnce(sandbox, warehouse, company)).failure).toBeUndefined()
    expect(await liveSites(warehouse)).toEqual(
      sandbox.world
        .all('sites')
        .map(({ id }) => String(id))
        .sort(),
    )
  })
})

describeOnEngines('an agency key', bench => {
  test.runIf(thorough)('syncs and sweeps its records, and dimensions are made of references', async () => {
    const sandbox = await openSandbox({ scale: 0.02 })
    const warehouse = await bench.warehouse()
    const connection = { apiKey: sandboxKeys.agency }
    const first = await syncOnce(sandbox, warehouse, { connection })
    expect(first.failure).toBeUndefined()
    const skipped = first.resources.filter(({ state }) => state === 'skipped').map(one => one.resource)
    expect(skipped).toEqual(expect.arrayContaining(['companies', 'projects', 'access-rules']))
    expect(sorted(await ids(warehouse, 'timesheet'))).toEqual(sorted(own(sandbox.world, 'timesheets', 1)))
    expect(await nameless(warehouse)).toEqual([])
    const [timesheet] = own(sandbox.world, 'timesheets', 1) as [string]
    const [expense] = own(sandbox.world, 'expenses', 1) as [string]
    sandbox.world.remove('timesheets', timesheet)
    sandbox.world.remove('expenses', expense)
    const request = { command: 'sweep', sweep: {} }
    for (let run = 0; run < 2; run += 1)
      expect((await syncOnce(sandbox, warehouse, { connection, request })).failure).toBeUndefined()
    expect(await deleted(warehouse)).toEqual([expense, timesheet].sort())
  })

  test.runIf(thorough)('of several agencies reads all of them without naming one', async () => {
    const sandbox = await openSandbox({ scale: 0.02 })
    const warehouse = await bench.warehouse()
    const connection = { apiKey: 'sandbox-agencies-key' }
    expect((await syncOnce(sandbox, warehouse, { connection })).failure).toBeUndefined()
    const records = own(sandbox.world, 'timesheets', 3)
    expect(records.length).toBeGreaterThan(own(sandbox.world, 'timesheets', 1).length)
    expect(sorted(await ids(warehouse, 'timesheet'))).toEqual(sorted(records))
  })

  test.runIf(thorough)(
    'leaves nothing that a company key duplicates, and tombstones nothing of what only that one sees',
    async () => {
      const sandbox = await openSandbox({ scale: 0.02 })
      const warehouse = await bench.warehouse()
      await syncOnce(sandbox, warehouse, {
        connection: { apiKey: sandboxKeys.agency },
        request: { resources },
      })
      const company = { connection: { apiKey: sandboxKeys.company }, request: { resources } }
      const outcome = await syncOnce(sandbox, warehouse, company)
      const note = outcome.resources.find(({ resource }) => resource === 'timesheets')?.note
      expect(note).toBe('the key can see more than before: reading from the beginning')
      const alone = await bench.warehouse()
      await syncOnce(sandbox, alone, company)
      const names = [...facts.map(name => `star.fact_${name}`), ...dimensions.map(name => `star.dim_${name}`)]
      const [both, one] = [await tables(warehouse.engine, names), await tables(alone.engine, names)]
      for (const name of names) expect({ name, rows: both[name] }).toEqual({ name, rows: one[name] })
      const request = { command: 'sweep', sweep: {}, resources: ['timesheets', 'expenses'] }
      const codes: (number | undefined)[] = []
      for (let run = 0; run < 2; run += 1) {
        const agency = { connection: { apiKey: sandboxKeys.agency }, request }
        codes.push((await syncOnce(sandbox, warehouse, agency)).failure?.exitCode)
        codes.push(
          (await syncOnce(sandbox, warehouse, { connection: company.connection, request })).failure?.exitCode,
        )
      }
      // The first sweep of each key learns what that key sees.
      expect(codes).toEqual([3, 3, undefined, undefined])
      expect(await deleted(warehouse)).toEqual([])
    },
  )
})
