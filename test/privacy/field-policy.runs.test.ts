/** Blocked fields are in no byte of any file, whatever is killed; what was stored before is cleaned, and hashes join. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { quoteText } from '../../src/warehouse/sql-text.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { commandsOn } from '../support/command-lines.ts'
import { describeOnEngines, type Warehouse } from '../support/warehouse-fixture.ts'
import { filesWith } from './server-files.ts'

// biome-ignore lint/suspicious/noExplicitAny: records of many shapes
type Any = any

const secret = 'Zyx'

/** Values with the word in every kind of place: columns, free text, lists, undeclared fields, JSON, quarantine. */
function plant(world: Any, stamp: string): void {
  const later = new Date(Date.now() - 60_000).toISOString()
  const upsert = (list: string, record: Any) => world.upsert(list, { ...record, updatedAt: later })
  for (const one of world.all('companies'))
    upsert('companies', {
      ...one,
      finance: {
        ...one.finance,
        vat: `${secret}vat${stamp}`,
        billing: { line: `${secret}bill${stamp}` },
        odd: `${secret}odd`,
      },
    })
  for (const [index, one] of world.all('timesheets').entries())
    upsert('timesheets', {
      ...one,
      worker: { ...one.worker, name: `${secret}worker${stamp} ${index}`, more: [`${secret}more${stamp}`] },
      ...(index === 0 && { values: 'none' }),
    })
  for (const [index, one] of world.all('users').entries())
    upsert('users', { ...one, email: `zyx${stamp}.${index}@mail.example` })
  const [user] = world.all('users')
  for (const one of world.all('sites'))
    upsert('sites', {
      ...one,
      email: user.email.toUpperCase(),
      undeclared: { deep: [{ email: user.email }] },
    })
}

const texts = [
  'Zyxvat',
  'Zyxbill',
  'Zyxodd',
  'Zyxworker',
  'Zyxmore',
  'zyxa.',
  'zyxb.',
  'ZYXA.',
  'ZYXB.',
  '@MAIL.EXAMPLE',
  '@mail.example',
]
const isPlanted = (text: string): boolean => texts.some(one => text.includes(one))

/** Every file of the folder that has a planted text, in its bytes or, of an archive, in its rows. */
async function filesOf({ landing }: Warehouse): Promise<string[]> {
  const root = dirname(landing)
  const reader = await openDuckdb(join(root, `reader-${Date.now()}.duckdb`))
  const found: string[] = []
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter(one => one.isFile())
  for (const { parentPath, name } of files.filter(one => !one.name.startsWith('reader-'))) {
    const file = join(parentPath, name)
    const bytes = readFileSync(file).toString('latin1')
    const rows = name.endsWith('.parquet')
      ? (
          await reader.rows<{ row: string }>(
            `select cast(t as varchar) as row from read_parquet(${quoteText(file)}) t`,
          )
        ).map(({ row }) => row)
      : []
    if ([bytes, ...rows].some(isPlanted)) found.push(name)
  }
  await reader.close()
  return found
}

async function opened<Result>(
  warehouse: Warehouse,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  await warehouse.open()
  return work(warehouse.engine).finally(() => warehouse.close())
}

async function placesOf(warehouse: Warehouse, engine: string): Promise<string[]> {
  const files = await filesOf(warehouse)
  return engine === 'postgres'
    ? [...files, ...(await opened(warehouse, one => filesWith(one, texts)))]
    : files
}

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** Runs the built program and kills it after so many milliseconds, at whatever it is then. */
async function killed(line: string, cwd: string, afterMs: number): Promise<void> {
  const env = { ...process.env, FIELD_KEY: '0123456789abcdef', MUSTER_API_KEY: sandboxKeys.company }
  const child = spawn(process.execPath, [program, ...line.split(' ')], { cwd, env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await Promise.race([ended, wait(afterMs)])
  child.kill('SIGKILL')
  await ended
}

const lists = 'companies users timesheets sites'

describeOnEngines(
  'a field policy',
  bench => {
    test('cleans what was stored, and then nothing blocked is in a byte of any file, after kills as well', async () => {
      const sandbox = await openSandbox({ scale: 0.01, rateLimitPerDay: 1_000_000 })
      const warehouse = await bench.warehouse()
      const { command, cwd } = await commandsOn(warehouse, sandbox)
      const settings = (fields: string): void => {
        mkdirSync(join(cwd, 'config'), { recursive: true })
        writeFileSync(
          join(cwd, 'config/muster.yaml'),
          `connections:\n  a:\n    baseUrl: ${sandbox.url}\n    apiKey: $` +
            `{MUSTER_API_KEY}\n    warehouse: ${warehouse.address}\n    landing: ${warehouse.landing}\n    fieldKey: $` +
            `{FIELD_KEY}\n    quarantineRecords: 1000\n    fields: ${fields}\n`,
        )
      }
      const env = {
        FIELD_KEY: '0123456789abcdef',
        MUSTER_BASE_URL: '',
        MUSTER_WAREHOUSE: '',
        MUSTER_LANDING: '',
      }
      const good = async (line: string): Promise<string> => {
        const ended = await command(line, env)
        expect([line, ended.code, ended.err]).toEqual([line, 0, expect.not.stringContaining('muster: ')])
        return ended.out
      }
      plant(sandbox.world, 'a')
      settings('{}')
      await good(`sync --quiet ${lists}`)
      expect((await placesOf(warehouse, bench.name)).length).toBeGreaterThan(1)

      settings('{ companies: { finance: block }, "*.email": hash, "timesheets.worker.*": block }')
      const refused = await command(`sync --quiet ${lists}`, env)
      expect([refused.code, refused.err]).toEqual([78, expect.stringContaining('run muster clean --fields')])
      const dry = JSON.parse(await good('clean --fields --dry-run --json'))
      expect((await placesOf(warehouse, bench.name)).length).toBeGreaterThan(1)
      await killed('clean --fields --yes', cwd, 2500)
      const real = JSON.parse(await good('clean --fields --yes --json'))
      expect(Object.keys(dry.rows)).toEqual(expect.arrayContaining(Object.keys(real.rows)))
      expect(await placesOf(warehouse, bench.name)).toEqual([])
      const again = JSON.parse(await good('clean --fields --dry-run --json'))
      expect({ rows: again.rows, pages: again.pages }).toEqual({ rows: {}, pages: 0 })

      plant(sandbox.world, 'b')
      for (const ms of [1200, 2000, 3500]) await killed(`sync --quiet ${lists}`, cwd, ms)
      await good(`sync --quiet ${lists}`)
      expect(await placesOf(warehouse, bench.name)).toEqual([])
      const joined = await opened(warehouse, engine =>
        engine.rows<{ n: number }>(
          'select count(*) as n from pii.site s join pii."user" u on u.email = s.email where u.email is not null',
        ),
      )
      expect(Number(joined[0]?.n)).toBeGreaterThan(0)
      const kept = await opened(warehouse, engine =>
        engine.rows<{ workers: number; sheets: number }>(
          `select count(distinct worker_id) as workers, count(*) as sheets from star.fact_timesheet where worker_id <> '-1'`,
        ),
      )
      expect(Number(kept[0]?.workers)).toBeGreaterThan(1)
      expect(await good('fields')).toContain('stored data follows it: yes')
    }, 240_000)
  },
  'all',
)
