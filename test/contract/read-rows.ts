/** Ids in paths, and the flags and parameters of single reads. */
import { expect } from 'vitest'
import { shortId } from '../../src/sandbox/record.ts'
import type { Body } from '../sandbox/open-sandbox.ts'
import { OPERATIONS } from './operations.ts'
import { expectBad } from './paging-rows.ts'
import { expectRefusal, type Row, textsAt } from './row.ts'
import { companies, type Stand } from './stand.ts'
import { bodyOf, keyOf, recordOf, targetOf } from './targets.ts'

const pathIds: readonly Row[] = OPERATIONS.filter(({ name }) => name.includes('{id}')).map(({ name }) => ({
  kind: 'parameter',
  what: `${name} id`,
  where: '4',
  show: async stand => {
    const asked = { key: keyOf(name), body: bodyOf(stand, name) } as const
    const target = targetOf(stand, name)
    const id = target.split('/')[2] ?? ''
    const byId = await stand.send(target, asked)
    expect([byId.status, byId.body.error]).toEqual([200, undefined])
    const byShortId = await stand.send(target.replace(id, shortId(id)), asked)
    expect(byShortId.body.data).toEqual(byId.body.data)
    if (byId.body.data.id !== undefined) expect(byId.body.data.id).toBe(id)
    expectRefusal(await stand.send(targetOf(stand, name, '%20'), asked), 400)
    expectRefusal(await stand.send(targetOf(stand, name, 'a,b'), asked), 400)
  },
}))

const flags: Readonly<Record<string, readonly [operation: string, field: string]>> = {
  'company includeConfig': ['GET /companies/{id}', 'config'],
  'project includeConfig': ['GET /projects/{id}', 'config'],
  'trade includeRates': ['GET /trades/{id}', 'rates'],
  'trade includeCompetencyMatrix': ['GET /trades/{id}', 'competencyMatrix'],
  'requisition includeStageTracking': ['GET /requisitions/{id}', 'stageTracking'],
}

const flagRows: readonly Row[] = Object.entries(flags).map(([title, [operation, field]]) => {
  const name = title.split(' ')[1] ?? ''
  return {
    kind: 'parameter',
    what: `${operation} ${name}`,
    where: '4',
    show: async stand => {
      const path = targetOf(stand, operation).split(' ')[1] ?? ''
      const read = async (query: string) => (await stand.get(path + query)).body.data
      const bare = await read('')
      expect([bare[field], await read(`?${name}=false`)]).toEqual([undefined, bare])
      const { [field]: added, ...rest } = await read(`?${name}=true`)
      expect([typeof added, rest]).toEqual(['object', bare])
      await expectBad(stand, [path, name], ['yes', '1', ''])
    },
  }
})

/** The entries of a trade that a project has; without an override, what the sector or the company asks for. */
async function showMatrix(stand: Stand): Promise<void> {
  const path = `/companies/${companies[0]}/competency-matrix`
  const general = (await stand.get(path)).body.data
  expect([Object.keys(general), general.entries.length > 0]).toEqual([['company', 'entries'], true])
  expect(general.entries.every((entry: Body) => entry.project === null)).toBe(true)
  const override = stand.sandbox.world
    .all('competencyMatrix')
    .find((one: Body) => one.source === 'project' && one.companyId === companies[0]) as Body
  const { project, entries } = (await stand.get(`${path}?projectId=${override.project.id}`)).body.data
  expect(project).toEqual(override.project)
  expect(entries.filter((entry: Body) => entry.source === 'project').length).toBeGreaterThan(0)
  const trades = textsAt(entries, 'trade.id')
  expect(new Set(trades).size).toBe(trades.length)
  await expectBad(stand, [path, 'projectId'], ['', 'a b'])
  const foreign = recordOf(stand, 'GET /projects/{id}', 1).id
  expectRefusal(await stand.get(`${path}?projectId=${foreign}`), 404)
}

const matrix: Row = {
  kind: 'parameter',
  what: 'GET /companies/{id}/competency-matrix projectId',
  where: '4',
  show: showMatrix,
}

const userRows: readonly Row[] = ['user-permissions', 'user-assignments'].map(name => ({
  kind: 'parameter',
  what: `GET /companies/{id}/${name} status`,
  where: '4',
  show: async stand => {
    const path = `/companies/${companies[0]}/${name}`
    const all = await stand.list(path)
    for (const status of ['Active', 'Inactive']) {
      const expected = all.filter(row => row.status === status)
      expect(expected.length).toBeGreaterThan(0)
      expect(await stand.list(path, `status=${status.toLowerCase()}`)).toEqual(expected)
    }
    const keys = all.map(row => `${row.name}\u0000${row.id}`)
    expect(keys).toEqual([...keys].sort())
    await expectBad(stand, [path, 'status'], ['Active', 'nothing', ''])
  },
}))

export const readRows: readonly Row[] = [...pathIds, ...flagRows, matrix, ...userRows]
