/** The parameters of the plain lists, each against a filter or order of its own over the unfiltered list. */
import { expect } from 'vitest'
import type { Body } from '../sandbox/open-sandbox.ts'
import { LISTS, type ListDeclaration, sortField } from './list-declarations.ts'
import { expectBad } from './paging-rows.ts'
import { expectRefusal, type Row, textsAt } from './row.ts'
import { companies, type KeyName, type Stand } from './stand.ts'

type Keeps = (row: Body) => boolean

const idsOf = (rows: readonly Body[]) => rows.map(({ id }) => id).sort()

/** The parameters keep exactly what the filter keeps, which is something and, unless `all`, not everything. */
async function expectKept(stand: Stand, path: string, asked: { query: string; keeps: Keeps; key?: KeyName }) {
  const { query, keeps, key } = asked
  const expected = (await stand.list(path, '', key)).filter(keeps)
  expect(expected.length, query).toBeGreaterThan(0)
  expect(idsOf(await stand.list(path, `${query}&fields=id`, key)), query).toEqual(idsOf(expected))
}

const choice =
  (name: string, { path, choices }: ListDeclaration) =>
  async (stand: Stand) => {
    const { values = [], field = '' } = choices[name] ?? {}
    for (const value of values) {
      const key = value === 'ldAdmin' || value === 'ldUser' ? 'several agencies' : 'company'
      const keeps = (row: Body) =>
        field === 'active' ? (row.active !== false) === (value === 'active') : row[field] === value
      await expectKept(stand, path, { query: `${name}=${encodeURIComponent(value)}`, keeps, key })
    }
    await expectBad(stand, [path, name], ['nothing', '', values[0]?.toUpperCase() ?? ''])
  }

const ids =
  (name: string, { path, ids: places, several, keys }: ListDeclaration) =>
  async (stand: Stand) => {
    const at = places[name] ?? ''
    const key = keys?.[name] ?? 'company'
    const found = [...new Set((await stand.list(path, '', key)).flatMap(row => textsAt(row, at)))]
    const [first = '', second = ''] = found
    expect(found.length).toBeGreaterThan(1)
    const has = (wanted: readonly string[]) => (row: Body) =>
      textsAt(row, at).some(text => wanted.includes(text))
    await expectKept(stand, path, { query: `${name}=${first}`, keeps: has([first]), key })
    if (several.includes(name)) {
      await expectKept(stand, path, { query: `${name}=${first},${second}`, keeps: has([first, second]), key })
    }
    await expectBad(stand, [path, name], ['', 'a b'])
    if (name === 'company' && path !== '/users') {
      expectRefusal(await stand.get(`${path}?company=${companies[1]}`, 'one company'), 403)
      expectRefusal(await stand.get(`${path}?company=unknown`), 403)
      expect(idsOf(await stand.list(path, '', 'one company'))).toEqual(
        idsOf((await stand.list(path)).filter(has([companies[0]]))),
      )
    }
  }

const query =
  ({ path, search }: ListDeclaration) =>
  async (stand: Stand) => {
    const all = await stand.list(path)
    for (const place of search) {
      const text = all.flatMap(row => textsAt(row, place))[0]?.slice(1) ?? ''
      expect(text, place).not.toBe('')
      const has = (row: Body) =>
        search.some(other =>
          textsAt(row, other).some(value => value.toUpperCase().includes(text.toUpperCase())),
        )
      for (const asked of [text.toUpperCase(), text.toLowerCase()]) {
        await expectKept(stand, path, { query: `query=${encodeURIComponent(asked)}`, keeps: has })
      }
    }
    expect(await stand.list(path, 'query=no%20row%20says%20this')).toEqual([])
    if (path !== '/timesheets') return
    // Timesheets are found by the reference of their worker, which only expenses show.
    const { worker } = (await stand.list('/expenses'))[0]
    const isOf = (row: Body) => row.worker.id === worker.id
    await expectKept(stand, path, { query: `query=${worker.reference}`, keeps: isOf })
  }

const dayOf = (value: unknown) => (typeof value === 'string' ? value.slice(0, 10) : undefined)

/** A day that has rows before it and after it. */
async function middleDay(stand: Stand, path: string, field: string): Promise<string> {
  const days = (await stand.list(path)).flatMap(row => dayOf(row[field]) ?? []).sort()
  return days[Math.floor(days.length / 2)] ?? ''
}

const range = (side: 'from' | 'to', list: ListDeclaration) => async (stand: Stand) => {
  const {
    path,
    dates: [field = ''],
  } = list
  const day = await middleDay(stand, path, field)
  const within = (row: Body) => {
    const of = dayOf(row[field])
    return of !== undefined && (side === 'from' ? of >= day : of <= day)
  }
  await expectKept(stand, path, { query: `${side}=${day}`, keeps: within })
  await expectBad(stand, [path, side], ['2026-02-30', '1.1.2026', '2026-1-1', 'x', ''])
}

const dateField =
  ({ path, dates }: ListDeclaration) =>
  async (stand: Stand) => {
    for (const field of dates) {
      const day = await middleDay(stand, path, field)
      const sought = `dateField=${field}&from=${day}&to=${day}`
      await expectKept(stand, path, { query: sought, keeps: row => dayOf(row[field]) === day })
    }
    await expectBad(stand, [path, 'dateField'], ['nothing', ''])
  }

/** Missing values are lowest. */
function inOrder(rows: readonly Body[], name: string, order: 'asc' | 'desc'): void {
  const keys = rows.map(row => row[sortField(name)] ?? '')
  const sorted = [...keys].sort((left, right) => (left < right ? -1 : left > right ? 1 : 0))
  expect(keys, `${name} ${order}`).toEqual(order === 'asc' ? sorted : sorted.reverse())
  expect(new Set(keys).size).toBeGreaterThan(1)
}

const sortBy =
  ({ path, sort, sortDefault }: ListDeclaration) =>
  async (stand: Stand) => {
    const all = idsOf(await stand.list(path))
    for (const name of sort) {
      const rows = await stand.list(path, `sortBy=${name}&sortOrder=asc&fields=id,${sortField(name)}`)
      inOrder(rows, name, 'asc')
      expect(idsOf(rows)).toEqual(all)
    }
    if (sortDefault) inOrder(await stand.list(path, 'sortOrder=asc'), sortDefault.by, 'asc')
    await expectBad(stand, [path, 'sortBy'], ['nothing', ''])
  }

const sortOrder =
  ({ path, sort: [name = ''], sortDefault }: ListDeclaration) =>
  async (stand: Stand) => {
    for (const order of ['asc', 'desc'] as const) {
      inOrder(
        await stand.list(path, `sortBy=${name}&sortOrder=${order}&fields=${sortField(name)}`),
        name,
        order,
      )
    }
    if (sortDefault) inOrder(await stand.list(path), sortDefault.by, sortDefault.order)
    await expectBad(stand, [path, 'sortOrder'], ['up', 'ASC', ''])
  }

const include =
  (name: string, { path, includes }: ListDeclaration) =>
  async (stand: Stand) => {
    const field = includes[name] ?? ''
    const has = async (asked: string) => (await stand.list(path, asked)).some(row => row[field] !== undefined)
    expect([await has(''), await has(`${name}=false`), await has(`${name}=true`)]).toEqual([
      false,
      false,
      true,
    ])
    await expectBad(stand, [path, name], ['yes', '1', ''])
  }

function rowsOf(list: ListDeclaration): Row[] {
  const { path, dates, choices, ids: places, includes } = list
  const shown: Record<string, (stand: Stand) => Promise<void>> = {
    query: query(list),
    ...(dates.length > 0 ? { from: range('from', list), to: range('to', list) } : {}),
    ...(dates.length > 1 ? { dateField: dateField(list) } : {}),
    sortBy: sortBy(list),
    sortOrder: sortOrder(list),
    ...Object.fromEntries(Object.keys(choices).map(name => [name, choice(name, list)])),
    ...Object.fromEntries(Object.keys(places).map(name => [name, ids(name, list)])),
    ...Object.fromEntries(Object.keys(includes).map(name => [name, include(name, list)])),
  }
  return Object.entries(shown).map(([name, show]) => ({
    kind: 'parameter',
    what: `GET ${path} ${name}`,
    where: '4',
    show,
  }))
}

export const listRows: readonly Row[] = LISTS.flatMap(rowsOf)
