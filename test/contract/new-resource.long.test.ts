/**
 * A resource read by id costs its own file and one line of the catalogue: with regions declared in this test, ids are
 * discovered, planned, fetched, loaded, counted in the mart of health, and described in the dictionary. In the long suite,
 * because there every test file loads its own modules, and this one replaces the catalogue.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Resource } from '../../src/contract/fields/resource.ts'
import { buildDictionary } from '../../src/dictionary/build.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { planRun } from '../../src/sync/plan/plan.ts'
import { buildAt } from '../marts/hand-made.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'
import { regions } from './regions.ts'

vi.mock('../../src/contract/catalogue.ts', async importOriginal => {
  const real = await importOriginal<typeof import('../../src/contract/catalogue.ts')>()
  const one = (await import('./regions.ts')).regions as Resource
  const catalogue = [...real.catalogue, one]
  return {
    ...real,
    catalogue,
    byIdResources: [...real.byIdResources, one],
    findResource: (name: string) => catalogue.find(resource => resource.name === name),
  }
})

interface Health {
  readonly live_rows: number
  readonly expected_rows: number
}

const at = '2026-11-01T10:00:00.000Z'

/** Regions of its own; everything else is passed on to the sandbox. */
async function withRegions(sandbox: { readonly url: string }, asked: string[]): Promise<{ url: string }> {
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    const region = /\/regions\/([\w-]+)$/.exec(path)?.[1]
    if (region !== undefined) {
      asked.push(region)
      const data = {
        id: region,
        name: `Region ${region}`,
        country: 'UK',
        manager: 'on paper',
        createdAt: at,
        updatedAt: at,
      }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ success: true, data }))
      return
    }
    const headers = { authorization: request.headers.authorization ?? '' }
    fetch(new URL(sandbox.url).origin + request.url, { headers })
      .then(async answer => {
        response.writeHead(answer.status, { 'content-type': 'application/json' })
        response.end(Buffer.from(await answer.arrayBuffer()))
      })
      .catch(error => response.destroy(error))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}${new URL(sandbox.url).pathname}` }
}

describeOnEngines('a new resource', bench => {
  test('is discovered, planned, fetched, loaded and counted by its declaration alone', async () => {
    const company = { id: 'c1', name: 'Company 1', updatedAt: at }
    const project = (id: string, region: string) => ({
      ...{ id, name: id, company: { id: 'c1', name: 'Company 1' }, region: { id: region, name: region } },
      ...{ createdAt: at, updatedAt: at },
    })
    const sandbox = await openSandbox({
      records: { companies: [company], projects: [project('p1', 'north'), project('p2', 'south')] },
    })
    const asked: string[] = []
    const service = await withRegions(sandbox, asked)
    const warehouse = await bench.warehouse()
    const { engine } = warehouse
    const plan = async () => {
      const clock = { now: () => Date.parse(at), sleep: async () => undefined }
      const sources = { engine, client: undefined, clock, key: { kind: 'company' as const, companies: [] } }
      const [planned] = await planRun({ resources: ['regions'] }, sources)
      return planned
    }

    const lists = await syncOnce(service, warehouse, { request: { resources: ['companies', 'projects'] } })
    expect([lists.failure, asked]).toEqual([undefined, []])
    expect(await plan()).toMatchObject({ resource: 'regions', strategy: 'by id', low: 2 })

    const { failure } = await syncOnce(service, warehouse, { request: { resources: ['regions'] } })
    expect([failure, asked.sort()]).toEqual([undefined, ['north', 'south']])
    expect(await plan()).toMatchObject({ low: 0 })
    expect(
      await engine.rows(
        `select region_id, country, is_inferred from star.dim_region where region_id <> '-1' order by 1`,
      ),
    ).toEqual([
      { region_id: 'north', country: 'UK', is_inferred: false },
      { region_id: 'south', country: 'UK', is_inferred: false },
    ])
    expect(await engine.rows('select distinct manager from pii.region')).toEqual([{ manager: 'on paper' }])

    await buildAt(engine, 'data_health')
    const [health] = await engine.rows<Health>(`select * from mart.data_health where resource = 'regions'`)
    expect(health).toMatchObject({ table_name: 'star.dim_region', reconciliation_status: 'equal' })
    expect([Number(health?.live_rows), Number(health?.expected_rows)]).toEqual([2, 2])
  })
})

test('is in the dictionary, as a subject area and as the source of its columns', async () => {
  const { areas, tables } = await buildDictionary(readMarts())
  expect(areas.find(({ resource }) => resource === regions.name)).toMatchObject({
    path: '/regions/{id}',
    tables: ['star.dim_region'],
  })
  const table = tables.find(({ schema, name }) => schema === 'star' && name === 'dim_region')
  expect(table?.columns.find(({ name }) => name === 'country')?.fields).toEqual(['region.country'])
})
