/** The floor: fetch every page, write it, and load the files into empty typed tables, and nothing else. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { request } from 'undici'
import type { ShapeNode } from '../../src/contract/derived/json-shape.ts'
import { shapeOf } from '../../src/contract/derived/json-shape.ts'
import { timesheets } from '../../src/contract/resources/timesheets.ts'

const [baseUrl = '', count = '1000', timelogs = 'without'] = process.argv.slice(2)

const types: Record<string, string> = {
  text: 'VARCHAR',
  url: 'VARCHAR',
  json: 'VARCHAR',
  integer: 'BIGINT',
  boolean: 'BOOLEAN',
  timestamp: 'TIMESTAMPTZ',
}

/** The declared shape with its real types at the leaves: one cast does the whole record. */
function typed(node: ShapeNode): string {
  if (node.kind === 'leaf') return types[node.type] ?? 'DECIMAL(18,4)'
  if (node.kind === 'list') return `${typed(node.element)}[]`
  return `STRUCT(${[...node.fields].map(([key, next]) => `"${key}" ${typed(next)}`).join(', ')})`
}

function leaves(node: ShapeNode, at: string): string[] {
  if (node.kind === 'leaf') return [at]
  if (node.kind === 'list') return []
  return [...node.fields].flatMap(([key, next]) => leaves(next, `${at}."${key}"`))
}

const columns = (node: ShapeNode, at: string): string =>
  leaves(node, at)
    .map((path, index) => `${path} as c${index}`)
    .join(', ')

const folder = mkdtempSync(join(tmpdir(), 'muster-floor-'))
mkdirSync(join(folder, 'pages'))
const started = performance.now()
const before = process.cpuUsage()

const files: string[] = []
for (let page = Math.ceil(Number(count) / 200); page >= 1; page -= 1) {
  const { body } = await request(`${baseUrl}/timesheets?page=${page}&limit=200`)
  const file = join(folder, 'pages', `${page}.json`)
  writeFileSync(file, Buffer.from(await body.arrayBuffer()))
  files.push(file)
}
const fetched = performance.now()

const instance = await DuckDBInstance.create(join(folder, 'floor.duckdb'), {
  preserve_insertion_order: 'false',
})
const connection = await instance.connect()
const shape = shapeOf(timesheets.table)
const elementOf = (node: ShapeNode | undefined, name: string): ShapeNode => {
  const list = node?.kind === 'object' ? node.fields.get(name) : undefined
  return list?.kind === 'list' ? list.element : { kind: 'leaf', type: 'text' }
}
const source = (some: readonly string[]): string => `(select try_cast(unnest(data) as ${typed(shape)}) as r
  from read_json([${some.map(file => `'${file}'`).join(', ')}], columns = {data: 'JSON[]'}, sample_size = 1, maximum_sample_files = 1))`
const timelog = elementOf(shape, 'timelogs')
const allocation = elementOf(timelog, 'costCodeAllocations')
/** Every list that has elements becomes a table, each row beside the id of what it belongs to. */
const lists = [
  `TARGET approver as select id, ${columns(elementOf(shape, 'timesheetApprovers'), 'e')}
    from (select r.id as id, unnest(r."timesheetApprovers") as e from page)`,
  ...(timelogs === 'with'
    ? [
        `TARGET timelog as select id, ${columns(timelog, 'e')} from (select r.id as id, unnest(r.timelogs) as e from page)`,
        `TARGET allocation as select id, ${columns(allocation, 'e')} from (
          select t.id as id, unnest(t."costCodeAllocations") as e from (select unnest(r.timelogs) as t from page))`,
      ]
    : []),
]
const selects = [
  `create or replace temp table page as select r from PAGES`,
  `TARGET timesheet as select ${columns(shape, 'r')} from page`,
  ...lists,
]
/** A batch at a time: the whole of it in one statement needs gigabytes. */
const batch = 100
for (let from = 0; from < files.length; from += batch) {
  for (const select of selects) {
    const table = /TARGET (\w+)/.exec(select)?.[1]
    const target = from === 0 ? `create table ${table} as` : `insert into ${table}`
    await connection.run(
      select.replace('PAGES', source(files.slice(from, from + batch))).replace(/TARGET \w+ as/, target),
    )
  }
}
await connection.run('checkpoint')
const loaded = performance.now()
const spent = process.cpuUsage(before)
console.log(
  JSON.stringify({
    fetchMs: fetched - started,
    loadMs: loaded - fetched,
    cpuSeconds: (spent.user + spent.system) / 1e6,
  }),
)
connection.closeSync()
instance.closeSync()
rmSync(folder, { recursive: true, force: true })
