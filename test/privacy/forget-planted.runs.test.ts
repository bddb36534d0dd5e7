/** Values of two persons are planted wherever a record has room for them; after `muster forget` no byte that it reaches has one. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { schemaNames } from '../../src/warehouse/schema/schemas.ts'
import { quoteName, quoteText } from '../../src/warehouse/sql-text.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { commandsOn } from '../support/command-lines.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { filesWith } from './server-files.ts'

type World = Awaited<ReturnType<typeof openSandbox>>['world']

interface Ids {
  readonly worker: string
  readonly user: string
  readonly other: string
}

const later = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString()

// biome-ignore lint/suspicious/noExplicitAny: records of many shapes
type Any = any

function upsert(world: World, list: string, record: Any): void {
  world.upsert(list as never, { ...record, updatedAt: later(-2) } as never)
}

/** The worker and the user as the subject, beside others, in lists, below keys of data, in documents and as keys. */
function plant(world: World, { worker, user, other }: Ids): void {
  const sheets = world.all('timesheets') as Any[]
  const own = sheets.find(one => one.worker?.id === worker)
  const [first, second, third] = sheets.filter(one => one.worker?.id === other)
  const former = {
    ...own,
    worker: { ...own.worker, name: 'Formerly Plover-Smith', email: 'plover.early@mail.example' },
  }
  upsert(world, 'timesheets', former)
  upsert(world, 'timesheets', {
    ...first,
    replaces: { id: worker, name: 'Plover Oldname', email: 'plover.one@mail.example', age: 4711001 },
    crew: [
      { id: other, email: 'bystander@mail.example', name: 'By Stander Bystander' },
      { workerId: worker, contact: { home: { line: 'Plover Street 5' } }, phone: 447700900123 },
    ],
    byWorker: { [worker]: { note: 'plover note' } },
    handover: {
      workerId: other,
      workerEmail: 'other.bystander@mail.example',
      to: worker,
      toName: 'Plover Too',
    },
    approvedBy: { ...first.approvedBy, id: user, name: 'Plover Usher', email: 'plover.user@mail.example' },
  })
  upsert(world, 'timesheets', {
    ...second,
    note: 'Call plover.one@mail.example or Plover Oldname',
    seen: { 'plover.one@mail.example': { times: 2 } },
    dump: JSON.stringify({ who: { id: worker, town: 'Ploverville' } }),
  })
  // In quarantine: the record cannot be read.
  upsert(world, 'timesheets', {
    ...third,
    values: 'none',
    replaces: { id: worker, email: 'plover.quarantined@mail.example' },
  })
  const [site, next] = world.all('sites') as Any[]
  upsert(world, 'sites', { ...site, name: 'Formerly Plover-Smith yard' })
  upsert(world, 'sites', { ...next, keeper: { userId: user, userName: 'Plover Usher', pager: 'plover 7' } })
  const expense = (world.all('expenses') as Any[]).find(one => one.worker?.id !== worker)
  upsert(world, 'expenses', { ...expense, createdBy: { id: user, name: 'Plover Usher', mobile: 'plover 9' } })
}

/** A later version has another name, so that the former one is in history and pages alone. */
function change(world: World, { worker }: Ids): void {
  const sheets = world.all('timesheets') as Any[]
  const own = sheets.find(one => one.worker?.name === 'Formerly Plover-Smith')
  upsert(world, 'timesheets', {
    ...own,
    worker: { id: worker, name: 'Plover Newname', email: 'plover.new@mail.example', tags: ['plover tag'] },
  })
}

async function rowsOf(engine: Engine): Promise<Map<string, string[]>> {
  const plain = new Map(schemaNames.map(name => [engine.schema(name) as string, name]))
  const found = new Map<string, string[]>()
  for (const { schema, table } of await engine.describedColumns([...plain.keys()])) {
    const name = `${plain.get(schema)}.${table}`
    if (found.has(name)) continue
    const rows = await engine.rows<{ row: string }>(
      `select cast(t as varchar) as row from ${plain.get(schema)}.${quoteName(table)} t`,
    )
    found.set(
      name,
      rows.map(({ row }) => row),
    )
  }
  return found
}

const withWord = (texts: Iterable<readonly [string, readonly string[]]>, word: RegExp): string[] =>
  [...texts].flatMap(([place, some]) => some.filter(text => word.test(text)).map(text => `${place}: ${text}`))

/** Texts of pages and archives, by file. */
async function pagesOf({ landing }: Warehouse): Promise<[string, string[]][]> {
  const reader = await openDuckdb(join(dirname(landing), `reader-${Date.now()}.duckdb`))
  const files = readdirSync(landing, { recursive: true, withFileTypes: true }).filter(one => one.isFile())
  const found: [string, string[]][] = []
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name)
    const texts = name.endsWith('.parquet')
      ? (
          await reader.rows<{ row: string }>(
            `select cast(t as varchar) as row from read_parquet(${quoteText(file)}) t`,
          )
        ).map(({ row }) => row)
      : [readFileSync(file, 'utf8')]
    found.push([file, texts])
  }
  await reader.close()
  return found
}

async function opened<Result>(warehouse: Warehouse, work: (engine: Engine) => Promise<Result>) {
  await warehouse.open()
  return work(warehouse.engine).finally(() => warehouse.close())
}

/** What every command, and forgetting, writes about itself. */
const ownRecords = new Set([
  ...['ops.run', 'ops.lease', 'ops.migration', 'ops.write_count'],
  ...['ops.forgotten', 'ops.forgotten_value'],
])

/** Rows of each table that are not there any more as they were. */
function changedRows(before: Map<string, string[]>, after: Map<string, string[]>): Record<string, number> {
  const changed: Record<string, number> = {}
  for (const [table, rows] of before) {
    if (ownRecords.has(table)) continue
    const left = new Map<string, number>()
    for (const row of after.get(table) ?? []) left.set(row, (left.get(row) ?? 0) + 1)
    const gone = rows.filter(row => {
      const count = left.get(row) ?? 0
      if (count > 0) left.set(row, count - 1)
      return count === 0
    })
    if (gone.length > 0) changed[table] = gone.length
  }
  return changed
}

const plover = /plover|4711001|447700900123/i

describeOnEngines(
  'values planted of a person',
  bench => {
    test('are nowhere after forget, which changes the rows that a dry run counts and no bystander', async () => {
      const sandbox = await openSandbox({ scale: 0.02, rateLimitPerDay: 1_000_000 })
      const warehouse = await bench.warehouse()
      const { command } = await commandsOn(warehouse, sandbox)
      const good = async (line: string): Promise<string> => {
        const ended = await command(line)
        expect([line, ended.code, ended.err]).toEqual([line, 0, expect.not.stringContaining('muster: ')])
        return ended.out
      }
      const { world } = sandbox
      const workers = [
        ...new Set((world.all('timesheets') as Any[]).map(({ worker }) => worker.id as string)),
      ]
      const counted = (id: string) =>
        (world.all('timesheets') as Any[]).filter(({ worker }) => worker.id === id).length
      const [other = '', worker = ''] = workers.sort((one, two) => counted(two) - counted(one))
      const user = (world.all('users') as Any[])[0].id as string
      const ids = { worker, user, other }
      const lists = 'users timesheets expenses sites'
      plant(world, ids)
      await command(`sync --quiet ${lists}`)
      change(world, ids)
      await command(`sync --quiet ${lists}`)
      await opened(warehouse, engine =>
        engine.run(
          `insert into ops.inbox (event_id, type, received_at, deliveries, state, payload)
           values ('e1', 'x.y', '2026-01-01', 1, 'unknown', ${quoteText(JSON.stringify({ data: { person: { id: worker, tel: 'plover 5' } } }))})`,
        ),
      )
      const before = await opened(warehouse, rowsOf)
      const planted = withWord(before, plover)
      expect([...new Set(planted.map(one => one.split(':')[0]))]).toEqual(
        expect.arrayContaining([
          'pii.attribute_leaf_history',
          'ops.inbox',
          'ops.quarantine',
          'pii.attribute_leaf',
          'pii.worker',
          'star.dim_site',
        ]),
      )
      if (bench.name === 'postgres') await opened(warehouse, engine => engine.run('analyze'))

      for (const who of [`worker ${worker}`, `user ${user}`]) {
        const earlier = await opened(warehouse, rowsOf)
        const dry = JSON.parse(await good(`forget ${who} --dry-run --json`))
        expect(changedRows(earlier, await opened(warehouse, rowsOf))).toEqual({})
        const real = JSON.parse(await good(`forget ${who} --yes --json`))
        expect({ rows: real.rows, pages: real.pages }).toEqual({ rows: dry.rows, pages: dry.pages })
        expect(changedRows(earlier, await opened(warehouse, rowsOf))).toEqual(real.rows)
      }
      const after = await opened(warehouse, rowsOf)
      expect(withWord(after, plover)).toEqual([])
      expect(withWord(await pagesOf(warehouse), plover)).toEqual([])
      const bystander = /bystander/i
      expect(withWord(after, bystander)).toEqual(withWord(before, bystander))
      expect(withWord(before, bystander).length).toBeGreaterThan(2)
      if (bench.name === 'postgres')
        expect(
          await opened(warehouse, engine =>
            filesWith(engine, [
              'Plover-Smith',
              'Plover Old',
              'Plover Us',
              'plover.',
              'plover 7',
              'plover note',
              'Ploverville',
            ]),
          ),
        ).toEqual([])
      else
        expect(readFileSync(warehouse.address.replace('duckdb:', '')).toString('latin1')).not.toMatch(
          /plover\.|plover /i,
        )
    }, 240_000)
  },
  'all',
)
