/** The parameters of the access-rule mappings. */
import { expect } from 'vitest'
import type { Body } from '../sandbox/open-sandbox.ts'
import { expectBad } from './paging-rows.ts'
import type { Row } from './row.ts'
import type { Stand } from './stand.ts'

const path = '/access-rule-mappings'

const exact = (parameter: string, field: string) => async (stand: Stand) => {
  const all = await stand.list(path)
  const value = all[0][field]
  const expected = all.filter(row => row[field] === value)
  expect(expected.length).toBeLessThan(all.length)
  expect(await stand.list(path, `${parameter}=${value}`)).toEqual(expected)
  expect(await stand.list(path, `${parameter}=${value.slice(1)}`)).toEqual([])
}

const checks: Readonly<Record<string, (stand: Stand) => Promise<void>>> = {
  role: exact('role', 'a'),
  action: exact('action', 'can'),
  query: async stand => {
    const all = await stand.list(path)
    for (const field of ['a', 'can', 'configKey']) {
      const text = all
        .find(row => row[field])
        [field].slice(1)
        .toUpperCase()
      const has = (row: Body) => `${row.a}\n${row.can}\n${row.configKey ?? ''}`.toUpperCase().includes(text)
      expect(await stand.list(path, `query=${text}`)).toEqual(all.filter(has))
    }
  },
  groupBy: async stand => {
    const all = await stand.list(path)
    const keyed = {
      role: (row: Body) => row.a,
      rule: (row: Body) => `${row.can}\u0000${row.configKey ?? ''}`,
    }
    for (const [groupBy, keyOf] of Object.entries(keyed)) {
      const groups = await stand.list(path, `groupBy=${groupBy}`)
      expect(groups.map(keyOf)).toEqual([...new Set(all.map(keyOf))].sort())
      for (const group of groups) {
        expect(group.rules.every((row: Body) => keyOf(row) === keyOf(group))).toBe(true)
      }
      expect(groups.flatMap(({ rules }) => rules)).toHaveLength(all.length)
      const { meta } = (await stand.get(`${path}?groupBy=${groupBy}&limit=1&page=2`)).body
      expect(meta.total).toBe(groups.length)
    }
    const role = all[0].a
    const [only, ...others] = await stand.list(path, `groupBy=role&role=${role}`)
    expect([only.a, others]).toEqual([role, []])
    await expectBad(stand, [path, 'groupBy'], ['can', ''])
  },
  sortBy: async stand => {
    const all = await stand.list(path)
    for (const field of ['a', 'can', 'configKey']) {
      const keys = (await stand.list(path, `sortBy=${field}`)).map(row => row[field] ?? '')
      expect(keys).toEqual(all.map(row => row[field] ?? '').sort())
    }
    const roles = all.map(row => row.a)
    expect(roles).toEqual([...roles].sort())
    expect(await stand.list(path, 'groupBy=rule&sortBy=a')).toEqual(await stand.list(path, 'groupBy=rule'))
    await expectBad(stand, [path, 'sortBy'], ['id', ''])
  },
  sortOrder: async stand => {
    const keys = async (order: string) => (await stand.list(path, order)).map(row => row.a)
    expect(await keys('sortOrder=asc')).toEqual(await keys(''))
    expect(await keys('sortOrder=desc')).toEqual((await keys('')).reverse())
    await expectBad(stand, [path, 'sortOrder'], ['up', ''])
  },
}

export const mappingRows: readonly Row[] = Object.entries(checks).map(([name, show]) => ({
  kind: 'parameter',
  what: `GET ${path} ${name}`,
  where: '4',
  show,
}))
