/** Whatever JSON a list holds: each record is in star with its undeclared fields, or in quarantine, and the scan is proved. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timesheets } from '../../src/contract/resources/timesheets.ts'
import { knownFields } from '../../src/load/page/known-fields.ts'
import { recordsOn } from '../../src/load/page/page-fields.ts'
import { undeclaredLeaves } from '../../src/load/page/undeclared-leaves.ts'
import { thorough } from '../support/long-suite.ts'
import { oneList } from '../support/one-list.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'
import { fields, jsonText, longKey, recordText } from './json-records.ts'

const at = '2026-03-01T09:00:00.000Z'
const seeds = Array.from({ length: thorough ? 40 : 1 }, (_, index) => 20 + index)
const request = { resources: ['timesheets'] }
const record = (id: string, ...members: string[]) =>
  `{${[`"id":"${id}"`, ...members, `"updatedAt":"${at}"`].join(',')}}`

const idsIn = async ({ engine }: Warehouse, table: string, column: string): Promise<string[]> =>
  (await engine.rows<{ id: string }>(`select distinct ${column} as id from ${table}`)).map(({ id }) => id)

interface Leaf {
  readonly record_id: string
  readonly path: string
  readonly value_text: string
  readonly value_type: string
}

const leavesIn = ({ engine }: Warehouse) =>
  engine.rows<Leaf>(
    `select record_id, path, value_text, value_type from star.attribute_leaf
     union all select record_id, path, value_text, value_type from pii.attribute_leaf order by 1, 2`,
  )

async function scanState({ engine }: Warehouse) {
  const [scan] = await engine.rows<{ state: string; distinct_ids: number | string }>(
    'select state, distinct_ids from ops.scan order by scan_id desc limit 1',
  )
  return { state: scan?.state, ids: Number(scan?.distinct_ids) }
}

/** Undeclared values of the records at hand that no leaf has; a long key or many leaves make one leaf of several. */
function missingLeaves(
  records: readonly string[],
  held: ReadonlySet<string>,
  leaves: readonly Leaf[],
): string[] {
  const bytes = Buffer.from(`{"data":[${records.join(',')}]}`)
  const searched = { rows: 'data', known: knownFields(timesheets.table), max: 20_000 } as const
  return [...recordsOn(bytes, searched)].flatMap(({ undeclared }, index) => {
    if (!held.has(`r${index}`)) return []
    const own = leaves.filter(leaf => leaf.record_id === `r${index}`)
    const wanted = undeclaredLeaves(bytes, undeclared)
    return wanted.flatMap(({ path, text }) => {
      const leaf = own.find(one => one.path === path)
      return leaf && [text, '[not stored]'].includes(leaf.value_text) ? [] : [`${path} of r${index}`]
    })
  })
}

describeOnEngines(
  'any JSON',
  bench => {
    test('records whose ids no engine stores are counted one by one', async () => {
      const warehouse = await bench.warehouse()
      const ids = ['\0', '\ud800', '\ud801', 'good']
      const list = await oneList(
        '/timesheets',
        ids.map(id => JSON.stringify({ id, createdAt: at, updatedAt: at })),
      )
      expect((await syncOnce(list, warehouse, { request })).failure).toBeUndefined()
      const kept = await idsIn(warehouse, 'ops.quarantine', 'record_id')
      expect(kept.sort()).toEqual(ids.slice(0, 3).map(id => JSON.stringify(id)))
    })

    test('keys of any kind are kept, each under a path of its own', async () => {
      const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
      const keys = [
        '',
        '"',
        '\\',
        '\n',
        '\0',
        '\ud800',
        '__proto__',
        'constructor',
        'ID',
        'Id',
        'a.b',
        '[0]',
        '$',
        '#2',
      ]
      const odd = keys.map((key, index) => `${JSON.stringify(key)}:${index}`)
      const many = Array.from({ length: 10_000 }, (_, index) => `"k${index}":${index}`)
      const warehouse = await bench.warehouse()
      const list = await oneList('/timesheets', [
        record('good'),
        record('odd', ...odd),
        record('twice', '"note2":1', '"note2":2'),
        record('same', '"status":"a"', '"status":"a"'),
        record('torn', '"worker":{"id":"w1","id":"w2"}'),
        record(
          'nested',
          `"worker":{"id":"w1","":{"\\"":[1,{"":2}]}}`,
          `"timelogs":[{"id":"l1","odd key":3}]`,
        ),
        record('many', ...many),
        record('deep', `"deep":${deep(1000)}`),
        record('deeper', `"deep":${deep(100_000)}`),
        record('long', `"${longKey}":1`),
        record('numbers', '"huge":1e400', `"digits":${'9'.repeat(300)}`),
        record('large', `"large":"${'v'.repeat(5_000_000)}"`),
        record('address', '"link":"https://a.b/c?token=t"', '"my password":"p"'),
      ])
      const outcome = await syncOnce(list, warehouse, { request })
      expect(outcome.failure).toBeUndefined()
      const held = await idsIn(warehouse, 'star.fact_timesheet', 'timesheet_id')
      const ids = list.records.map(text => (JSON.parse(text) as { id: string }).id)
      expect(held.sort()).toEqual(ids.filter(id => !['deeper', 'torn'].includes(id)).sort())
      expect(await warehouse.engine.rows('select record_id, reason from ops.quarantine order by 1')).toEqual([
        { record_id: 'deeper', reason: 'nested deeper than 2000 levels' },
        { record_id: 'torn', reason: '"id" has several values in one object' },
      ])
      const leaves = await leavesIn(warehouse)
      const of = (id: string) => leaves.filter(leaf => leaf.record_id === id)
      const texts = (id: string) =>
        Object.fromEntries(of(id).map(({ path, value_text }) => [path, value_text]))
      expect(texts('odd')).toEqual({
        '""': '0',
        '"\\""': '1',
        '"\\\\"': '2',
        '"\\n"': '3',
        '"\\u0000"': '4',
        '"\\ud800"': '5',
        ['__proto__']: '6',
        constructor: '7',
        ID: '8',
        Id: '9',
        '"a.b"': '10',
        '"[0]"': '11',
        $: '12',
        '"#2"': '13',
      })
      expect(texts('twice')).toEqual({ note2: '1', 'note2#2': '2' })
      expect(texts('nested')).toEqual({
        'worker.""."\\""[0]': '1',
        'worker.""."\\""[1].""': '2',
        'timelogs[0].odd key': '3',
      })
      expect(of('many')).toHaveLength(10_000)
      expect(of('deep')).toMatchObject([{ path: 'deep', value_type: 'json', value_text: deep(1000) }])
      expect(of('long')).toMatchObject([{ value_type: 'json', value_text: `{"${longKey}":1}` }])
      expect(texts('numbers')).toEqual({ huge: '1e400', digits: '9'.repeat(300) })
      expect(texts('large').large).toHaveLength(5_000_000)
      expect(texts('address')).toEqual({ link: 'https://a.b/c', 'my password': '[not stored]' })
      const again = await syncOnce(list, warehouse, { request })
      expect(again.failure).toBeUndefined()
      expect(await leavesIn(warehouse)).toEqual(leaves)
    })

    test.each(seeds)('a list of arbitrary JSON is read completely (seed %i)', async seed => {
      const records = fc
        .sample(fields, { numRuns: 180, seed })
        .map((entries, index) => recordText(`r${index}`, entries, at))
      const strays = [...new Set(fc.sample(jsonText, { numRuns: 40, seed }))]
      const warehouse = await bench.warehouse()
      const list = await oneList('/timesheets', [...records, ...strays])
      const connection = { tolerance: { records: 1000, percent: 100 } }
      const outcome = await syncOnce(list, warehouse, { request, connection })
      expect(outcome.failure).toBeUndefined()
      expect(await scanState(warehouse)).toMatchObject({ state: 'accepted' })
      const held = new Set(await idsIn(warehouse, 'star.fact_timesheet', 'timesheet_id'))
      const refused = new Set(await idsIn(warehouse, 'ops.quarantine', 'record_id'))
      expect(records.filter((_, index) => !held.has(`r${index}`) && !refused.has(`r${index}`))).toEqual([])
      expect(held.size).toBeGreaterThan(50)
      const payloads = new Set(await idsIn(warehouse, 'ops.quarantine', 'payload'))
      expect(strays.filter(text => !payloads.has(text))).toEqual([])
      expect(missingLeaves(records, held, await leavesIn(warehouse))).toEqual([])
    })
  },
  'all',
)
