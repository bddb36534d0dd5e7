/**
 * What each command prints on a terminal of 60, 100 and 160 columns, compared with a recording. `vitest --update` writes the
 * recordings anew: read what changed in them as a user would.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { beforeAll, describe, expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import { run } from '../../src/cli/program.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { captured } from './captured-world.ts'
import { openPlace, type Place } from './synced-warehouse.ts'

const widths = [60, 100, 160] as const

let place: Place
/** Stands still while a command runs; the next one begins a minute later. */
let now = Date.parse('2026-11-02T02:45:00.000Z')
const clock = { now: () => now, sleep: async () => undefined }

beforeAll(async () => {
  place = await openPlace()
  const { cwd, sandbox } = place
  mkdirSync(join(cwd, 'config'))
  mkdirSync(join(cwd, 'dags'))
  writeFileSync(join(cwd, 'key'), sandboxKeys.company, { mode: 0o600 })
  const settings = [`    baseUrl: ${sandbox.url}`, '    apiKey: file:key', '    warehouse: duckdb:w.duckdb']
  writeFileSync(join(cwd, 'config/muster.yaml'), ['connections:', '  acme:', ...settings, ''].join('\n'))
  writeFileSync(
    join(cwd, 'dags/morning.yaml'),
    'name: morning\ndescription: The state of the warehouse, and its marts.\nschedule: "0 6 * * *"\ntasks:\n  status: { run: status }\n  build: { run: build, needs: [status] }\n',
  )
  writeFileSync(join(cwd, 'ids.txt'), 'b7f5a1c2-0000-4000-8000-000000000001\n')
  await place.command('sync')
  await place.command('build')
})

/** What differs from run to run: folder, port, process, durations, sizes of files, ids of runs and random tokens. */
const masked = (text: string): string =>
  text
    .replace(/\/[^\s…]*muster-[\w/.-]*/g, '<folder>')
    .replace(/\bv\d+\.\d+\.\d+/g, '<version>')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replace(/\d{8}T\d{6}Z?-[0-9a-f]+/g, '<run>')
    .replace(/\b\d+\.\d s\b/g, '<time> s')
    .replace(/[\d.,]+ (MB|GB|bytes)\b/g, '<size> $1')
    .replace(/pid \d+/g, 'pid <number>')
    .replace(/Node(\.js)? v?\d+\.\d+\.\d+/g, 'Node <version>')
    .replace(/ +$/gm, '')

async function shown(words: readonly string[], columns: number): Promise<string> {
  now += 60_000
  const { world, out, err } = captured({ cwd: place.cwd, clock })
  const stdout = { ...world.stdout, isTTY: true, columns }
  const silent = words.includes('--verbose') ? [] : ['--quiet']
  const code = await run([...words, '--color', 'never', ...silent], { ...world, stdout }, commandSet)
  const text = masked(`${out()}${err()}`)
  const tooWide = out()
    .split('\n')
    .filter(line => stringWidth(line) > columns && isTable(line))
  expect(tooWide).toEqual([])
  return `$ muster ${words.join(' ')}\n${text}exit code ${code}\n`
}

/** Sentences wrap as the terminal likes; what stands in columns must not. */
const isTable = (line: string): boolean => /\S {2,}\S/.test(line) && !/^\s*(\$|muster:)/.test(line)

/** In an order in which each finds what the ones before made. */
const lines: readonly (readonly string[])[] = [
  'sync',
  'sync timesheets --max-requests 1',
  'status',
  'status --windows',
  'doctor',
  'plan',
  'plan sweep',
  'config',
  'build',
  'build worker_week --all',
  'check',
  'runs',
  'metric timeToFill',
  'metric workersOverHours',
  'crosscheck',
  'publish',
  'publish --verbose',
  'export --parquet parquet',
  'docs',
  'dag list',
  'dag run morning',
  'dag export cron morning',
  'discover requisitions ids.txt',
  'sweep --counts',
  'backfill timesheets --from 2026-10-01 --to 2026-10-07',
  'retention',
  'audit-pii',
  'forget worker nobody',
  'roles --dry-run',
  'init --config other/muster.yaml --force',
  'init --sandbox --config sandbox/muster.yaml --force',
  'replay',
  'get timesheets nobody',
  'workers create none.csv',
  'files upload none.pdf --resource worker --purpose photo',
  'completion tcsh',
  'snc',
].map(line => line.split(' '))

const queries = [
  [
    'sql',
    'select status, count(*) as sheets, sum(net_hours) as hours from star.fact_timesheet group by 1 order by 1',
  ],
  ['sql', 'select * from mart.worker_week order by 1, 2 limit 3'],
  ['sql', 'select nothing'],
]

test.each(widths)(
  'at %i columns',
  async columns => {
    const found: string[] = []
    for (const words of [...lines, ...queries]) found.push(await shown(words, columns))
    await expect(found.join('\n')).toMatchFileSnapshot(`golden/${columns}-columns.txt`)
  },
  900_000,
)

describe('help', () => {
  test.each(widths)('at %i columns', async columns => {
    const found: string[] = []
    for (const name of ['', ...Object.keys(commandSet.commands)]) {
      const { world, out } = captured()
      await run(
        [...name.split(' ').filter(Boolean), '--help'],
        { ...world, stdout: { ...world.stdout, columns } },
        commandSet,
      )
      found.push(`$ muster ${name} --help\n${out()}`)
    }
    await expect(found.join('\n')).toMatchFileSnapshot(`golden/help-${columns}-columns.txt`)
  })
})
