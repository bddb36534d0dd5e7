/** What every list takes: pages, their size, and the choice of fields. */
import { expect } from 'vitest'
import type { Body } from '../sandbox/open-sandbox.ts'
import { OPERATIONS } from './operations.ts'
import { expectRefusal, type Row } from './row.ts'
import type { Stand } from './stand.ts'
import { targetOf } from './targets.ts'

/** Bad values of a parameter, each of which is 400 and named. */
export async function expectBad(
  stand: Stand,
  [path, name]: readonly [path: string, parameter: string],
  values: readonly string[],
) {
  for (const value of values) {
    expectRefusal(await stand.get(`${path}?${name}=${encodeURIComponent(value)}`), 400, name)
  }
  const first = encodeURIComponent(values[0] ?? '')
  expectRefusal(await stand.get(`${path}?${name}=${first}&${name}=${first}`), 400, name)
}

type Check = (stand: Stand, path: string) => Promise<void>

const page: Check = async (stand, path) => {
  const all = await stand.list(path)
  const size = Math.max(1, Math.min(7, Math.floor(all.length / 3)))
  const second = (await stand.get(`${path}?limit=${size}&page=2`)).body
  expect(second.data).toEqual(all.slice(size, 2 * size))
  expect(second.meta).toMatchObject({ page: 2, limit: size, total: all.length })
  const first = (await stand.get(`${path}?limit=${size}`)).body
  expect([first.meta.page, first.data]).toEqual([1, all.slice(0, size)])
  const beyond = (await stand.get(`${path}?page=100000`)).body
  expect([beyond.data, beyond.meta.total]).toEqual([[], all.length])
  await expectBad(stand, [path, 'page'], ['0', '-1', '1.5', 'x', ''])
}

const limit: Check = async (stand, path) => {
  const all = await stand.list(path)
  for (const [query, size] of [
    ['', 50],
    ['?limit=1', 1],
    ['?limit=200', 200],
  ] as const) {
    const { body } = await stand.get(path + query)
    expect([body.meta.limit, body.data]).toEqual([size, all.slice(0, size)])
  }
  await expectBad(stand, [path, 'limit'], ['0', '201', '-1', '2.5', 'x', ''])
}

const fields: Check = async (stand, path) => {
  const row = (await stand.list(path))[0]
  const plain = Object.keys(row).find(name => typeof row[name] === 'string') ?? ''
  const [outer, inner] = nestedPath(row)
  const selected = async (paths: string) => (await stand.get(`${path}?limit=1&fields=${paths}`)).body.data[0]
  expect(await selected(plain)).toEqual({ [plain]: row[plain] })
  if (outer !== undefined && inner !== undefined) {
    const picked = (value: Body) => (inner in value ? { [inner]: value[inner] } : {})
    const whole = row[outer]
    const part = Array.isArray(whole) ? whole.map(picked) : picked(whole)
    expect(await selected(`${plain},${outer}.${inner}`)).toEqual({ [plain]: row[plain], [outer]: part })
  }
  await expectBad(stand, [path, 'fields'], ['', 'a b', 'a..b'])
}

/** An object or list of objects in the row, and one field of it; lists of plain rows have none of their own. */
function nestedPath(row: Body): readonly string[] {
  for (const [name, value] of Object.entries(row)) {
    const one = Array.isArray(value) ? value[0] : value
    if (typeof one === 'object' && one !== null) return [name, ...Object.keys(one).slice(0, 1)]
  }
  return []
}

const checks = { page, limit, fields }

export const pagingRows: readonly Row[] = OPERATIONS.filter(({ answers }) => answers === 'list').flatMap(
  ({ name }) =>
    Object.entries(checks).map(
      ([parameter, check]): Row => ({
        kind: 'parameter',
        what: `${name} ${parameter}`,
        where: '4',
        show: async stand => check(stand, targetOf(stand, name).split(' ')[1] ?? ''),
      }),
    ),
)
