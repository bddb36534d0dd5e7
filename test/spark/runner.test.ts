/** What run.py decides before and around Spark, which a stand-in replaces. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { defaultDays } from '../../src/lib/day-rule.ts'
import type { Mart } from '../../src/marts/mart.ts'
import type { SparkMart } from '../../src/marts/spark/statements.ts'
import { sparkFiles } from '../../src/semantic/spark-project.ts'

const hasPython = spawnSync('python3', ['-c', 'import zoneinfo']).status === 0
if (!hasPython) console.log('run.py is not tried: there is no python3 with zoneinfo on this machine')

const folder = mkdtempSync(join(tmpdir(), 'muster-runner-'))
const standIn = fileURLToPath(new URL('without-spark.py', import.meta.url))

const mart = (name: string, read: string): SparkMart => ({
  mart: { name, summary: '', reads: [read] } as unknown as Mart,
  columns: [],
  reads: [read],
  select: () => `select * from ${read.replace('.', '_')}`,
})

const marts = [
  mart('first', 'star.a'),
  mart('second', 'mart.first'),
  mart('third', 'mart.second'),
  mart('other', 'star.b'),
  mart('of_other', 'mart.other'),
]

function write(path: string, content: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}

/** The last snapshot of north has no star.b. */
const publish = (run: `${string}/${number}`, tables: readonly string[], file = '1'): void =>
  write(
    `lake/_muster/snapshots/${run}.json`,
    JSON.stringify({
      connection: dirname(run),
      tables: Object.fromEntries(
        tables.map(name => [name, { version: 1, files: [`connection=${dirname(run)}/${file}.parquet`] }]),
      ),
    }),
  )

beforeAll(() => {
  const connections = [
    { name: 'acme', days: defaultDays, fiscalMonth: 4 },
    { name: 'north', days: { ...defaultDays, zone: 'UTC' }, fiscalMonth: 4 },
    { name: 'west', days: defaultDays, fiscalMonth: 4 },
  ]
  for (const { path, content } of sparkFiles({ marts, leftOut: [] }, connections))
    write(path, String(content))
  publish('acme/1', ['mart.data_health', 'star.a', 'star.b'])
  publish('north/1', ['mart.data_health', 'star.a', 'star.b'])
  publish('north/2', ['mart.data_health', 'star.a'])
  publish('west/1', ['mart.data_health', 'star.a', 'star.b'], 'gone')
  publish('south/1', ['mart.data_health', 'star.a'])
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function run(...options: readonly string[]) {
  const given = ['--lake', join(folder, 'lake'), '--out', join(folder, 'out'), '--today', '2026-11-02']
  const child = spawn('python3', [standIn, join(folder, 'run.py'), ...given, ...options])
  const said = { out: '', err: '' }
  child.stdout.on('data', text => {
    said.out += text
  })
  child.stderr.on('data', text => {
    said.err += text
  })
  const code = await new Promise(resolve => child.on('close', resolve))
  const lines = (text: string): string[] =>
    text
      .trim()
      .replaceAll(/ in \d+\.\d s$/gm, '')
      .split('\n')
  return { code, out: lines(said.out), err: lines(said.err) }
}

describe.skipIf(!hasPython).concurrent('the runner', () => {
  test('computes each mart after those it reads, and names in one line what it cannot compute', async ({
    expect,
  }) => {
    const { code, out, err } = await run(
      '--threads',
      '4',
      ...['acme', 'north', 'south'].flatMap(name => ['--connection', name]),
    )
    const places = ['first', 'second', 'third'].map(name => out.indexOf(`acme mart.${name}: written`))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(out).toEqual(
      expect.arrayContaining([
        'star_a Europe/London 2026-11-02T02:30:00Z 2026-11-02',
        'acme mart.first: written',
        'acme mart.of_other: written',
        'star_a UTC 2026-11-02T02:30:00Z 2026-11-02',
        'north mart.third: written',
      ]),
    )
    expect([code, err]).toEqual([
      1,
      [
        'south: not in the lake, or not in marts.json',
        'north mart.other: not computed without star.b',
        'north mart.of_other: not computed without mart.other',
      ],
    ])
  })

  test('names in one line each mart that reads a file that is gone', async ({ expect }) => {
    const { code, err } = await run('--connection', 'west', '--mart', 'second')
    expect([code, err]).toEqual([
      1,
      ['west mart.first: [PATH_NOT_FOUND]', 'west mart.second: not computed without mart.first'],
    ])
  })

  test('computes what the named marts read, and nothing else', async ({ expect }) => {
    const { code, out, err } = await run('--connection', 'acme', '--mart', 'second')
    expect([code, err]).toEqual([0, ['']])
    expect(out.filter(line => line.includes('written'))).toEqual([
      'acme mart.first: written',
      'acme mart.second: written',
    ])
  })

  test('refuses a mart that the plan does not have, and a lake without a connection', async ({ expect }) => {
    const [ofMart, ofLake] = await Promise.all([
      run('--mart', 'nothing'),
      run('--lake', join(folder, 'nowhere')),
    ])
    expect([ofMart.code, ofMart.err.at(-1)]).toEqual([2, 'run.py: error: marts.json has no mart nothing'])
    expect([ofLake.code, ofLake.err]).toEqual([
      1,
      [`${folder}/nowhere: no connection is published here; run muster lake publish`],
    ])
  })
})
