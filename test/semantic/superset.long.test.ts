/** Superset imports the bundle, and the charts of its dashboard show what muster sql shows. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMarts } from '../../src/marts/mart.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { chartSql, chartsOf } from '../../src/semantic/charts.ts'
import { supersetBundle } from '../../src/semantic/superset.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { buildAll } from '../marts/build-all.ts'
import { useFilled } from '../marts/filled-warehouse.ts'
import { placeOfServer } from './places.ts'
import { pythonTool, run, writeFiles } from './tool.ts'

const filled = useFilled()
const entities = semanticCatalogue(readMarts())
const folder = mkdtempSync(join(tmpdir(), 'muster-superset-'))
const rowsOf = fileURLToPath(new URL('superset_rows.py', import.meta.url))
let programs = ''
let engine: Engine

const env = {
  SUPERSET_CONFIG_PATH: join(folder, 'superset_config.py'),
  FLASK_APP: 'superset',
}
const superset = (...args: string[]) => run(join(programs, 'superset'), args, { cwd: folder, env })

async function must(...args: string[]): Promise<void> {
  const { code, output } = await superset(...args)
  if (code !== 0) throw new Error(`superset ${args.join(' ')}: ${output.slice(-3000)}`)
}

beforeAll(async () => {
  programs = await pythonTool('superset', [
    'apache-superset==6.1.0',
    'flask-caching==2.3.1',
    'psycopg2-binary',
    'rich',
  ])
  writeFileSync(
    env.SUPERSET_CONFIG_PATH,
    `SECRET_KEY = 'for this test alone, which keeps nothing'
SQLALCHEMY_DATABASE_URI = 'sqlite:///${folder}/superset.db'
simple = {'CACHE_TYPE': 'NullCache'}
CACHE_CONFIG = DATA_CACHE_CONFIG = simple
FILTER_STATE_CACHE_CONFIG = EXPLORE_FORM_DATA_CACHE_CONFIG = {'CACHE_TYPE': 'SimpleCache'}
`,
  )
  await must('db', 'upgrade')
  const admin = ['--username', 'admin', '--firstname', 'a', '--lastname', 'b', '--email', 'a@example.com']
  await must('fab', 'create-admin', ...admin, '--password', 'admin')
  await must('init')
  const server = await filled.postgres()
  engine = server.engine
  await buildAll(engine)
  writeFiles(folder, supersetBundle({ entities, place: placeOfServer(server), version: '0' }))
}, 3_000_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Told {
  readonly charts: Readonly<Record<string, { rows: Record<string, unknown>[] | null; error: string | null }>>
  readonly dashboards: Readonly<Record<string, number>>
  readonly datasets: number
  readonly undescribed: readonly string[]
}

/** Numbers to nine digits, dates as days: JSON of Python has milliseconds where PostgreSQL has a day. */
function cell(value: unknown): unknown {
  if (value === null || value === undefined || typeof value === 'boolean') return value ?? null
  const text = String(value)
  if (/^\d{13}(\.0)?$/.test(text)) return new Date(Number(text)).toISOString().slice(0, 10)
  return Number.isFinite(Number(text)) && text !== ''
    ? Number(Number(text).toPrecision(9))
    : text.slice(0, 10)
}

const lines = (rows: readonly object[], names: readonly string[]): string[] =>
  rows.map(row => JSON.stringify(names.map(name => cell((row as Record<string, unknown>)[name])))).sort()

test('it is imported twice, and its charts have the numbers of the marts', async () => {
  for (const _ of [1, 2])
    await must('import-dashboards', '-p', join(folder, 'muster-superset.zip'), '-u', 'admin')
  const { output } = await run(join(programs, 'python'), [rowsOf], { cwd: folder, env })
  const line = output.split('\n').find(one => one.startsWith('TOLD '))
  if (line === undefined) throw new Error(output.slice(-3000))
  const told = JSON.parse(line.slice('TOLD '.length)) as Told
  const charts = chartsOf(entities)
  expect(told.dashboards).toEqual({ Workforce: charts.length })
  expect(told.datasets).toBe(entities.length)
  expect(told.undescribed).toEqual([])
  for (const chart of charts) {
    const { rows, error } = told.charts[chart.title] ?? { rows: null, error: 'it is not there' }
    expect([chart.title, error]).toEqual([chart.title, null])
    // Hours since a reading grow between two questions.
    const names = [chart.time, chart.group, ...chart.metrics.map(({ name }) => name)].filter(
      (name): name is string => name !== undefined && name !== 'hours_since_read',
    )
    const ours = await engine.rows(chartSql(chart, 'mart'))
    expect([chart.title, lines(rows ?? [], names)]).toEqual([chart.title, lines(ours, names)])
    expect(ours.length).toBeGreaterThan(0)
  }
})
