/** Cube compiles the data model, and its SQL finds what the marts hold: every measure, read by the BI login. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readMarts } from '../../src/marts/mart.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { cubeBundle } from '../../src/semantic/cube.ts'
import { type Entity, splitOf } from '../../src/semantic/entity.ts'
import { buildAll } from '../support/built-marts.ts'
import { useFilled } from '../support/filled-warehouse.ts'
import { type BiLogin, biLogin } from './bi-login.ts'
import { nodeTool, run, writeFiles } from './tool.ts'

const filled = useFilled()
const entities = semanticCatalogue(readMarts())
const folder = mkdtempSync(join(tmpdir(), 'muster-cube-'))
let login: BiLogin

/** Its native part, which a post-install script downloads, is needed by templates and the newer planner only. */
const program = (tool: string): string => `
const { prepareCompiler, PostgresQuery } = require(${JSON.stringify(join(tool, 'node_modules/@cubejs-backend/schema-compiler'))})
const { readdirSync, readFileSync } = require('fs')
const files = readdirSync('model/cubes').map(name => ({ fileName: name, content: readFileSync('model/cubes/' + name, 'utf8') }))
const nativeInstance = { newJinjaEngine: () => ({}), loadPythonContext: async () => ({}) }
const all = prepareCompiler({ localPath: () => '', dataSchemaFiles: async () => files }, { allowNodeRequire: false, standalone: true, nativeInstance })
all.compiler.compile().then(() => {
  const queries = JSON.parse(readFileSync('queries.json', 'utf8'))
  const told = queries.map(query => new PostgresQuery(all, { ...query, timezone: 'UTC', limit: 50000 }).buildSqlAndParams())
  console.log('TOLD ' + JSON.stringify({ cubes: all.metaTransformer.cubes.length, told }))
}).catch(error => { console.error(String(error).slice(0, 4000)); process.exit(1) })
`

interface Query {
  readonly measures: readonly string[]
  readonly dimensions: readonly string[]
}

async function ask(queries: readonly Query[]): Promise<{ cubes: number; told: [string, unknown[]][] }> {
  const tool = await nodeTool('cube', ['--ignore-scripts', '@cubejs-backend/schema-compiler@1'])
  writeFileSync(join(folder, 'queries.json'), JSON.stringify(queries))
  writeFileSync(join(folder, 'compile.cjs'), program(tool))
  const env = { CUBEJS_TESSERACT_SQL_PLANNER: 'false' }
  const { code, output } = await run(process.execPath, ['compile.cjs'], { cwd: folder, env })
  expect([code, output.slice(0, 3000)]).toEqual([0, expect.stringContaining('TOLD ')])
  return JSON.parse(output.slice(output.indexOf('TOLD ') + 5).split('\n')[0] ?? '')
}

/** Of rows by their own names, which end with those of the marts. */
const shown = (rows: readonly object[], names: readonly string[]): string[] =>
  rows
    .map(row => {
      const of = new Map(Object.entries(row).map(([name, value]) => [name.replace(/^.*?__/, ''), value]))
      return JSON.stringify(
        names.map(name => {
          const value = of.get(name) ?? null
          if (value instanceof Date) return value.toISOString().slice(0, 10)
          return Number.isFinite(Number(value)) && value !== null
            ? Number(Number(value).toPrecision(9))
            : value
        }),
      )
    })
    .sort()

beforeAll(async () => {
  const server = await filled.postgres()
  await buildAll(server.engine)
  login = await biLogin(server)
  writeFiles(folder, cubeBundle({ entities, place: login.place, version: '0' }))
}, 1_800_000)

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await login?.remove()
})

test('every cube compiles, and every measure is that of the mart within one currency, day and level', async () => {
  const asked = entities.filter(({ name, metrics }) => name !== 'freshness' && metrics.length > 0)
  const groups = ({ metrics }: Entity): string[] => splitOf(metrics, [])
  const { cubes, told } = await ask(
    asked.map(entity => ({
      measures: entity.metrics.map(({ name }) => `${entity.name}.${name}`),
      dimensions: groups(entity).map(name => `${entity.name}.${name}`),
    })),
  )
  expect(cubes).toBe(entities.length)
  for (const [place, entity] of asked.entries()) {
    const [sql, values] = told[place] ?? ['', []]
    expect(values).toEqual([])
    const by = groups(entity)
    const figures = entity.metrics.map(one => `${one.sql} as ${one.name}`)
    const grouped = by.length === 0 ? '' : ` group by ${by.join(', ')}`
    const ours = await login.rows(
      `select ${[...by, ...figures].join(', ')} from mart.${entity.name}${grouped}`,
    )
    const names = [...by, ...entity.metrics.map(({ name }) => name)]
    expect([entity.name, shown(await login.rows(sql), names)]).toEqual([entity.name, shown(ours, names)])
  }
})

test('names of a dimension group the figures of a mart; stocks of several weeks are empty', async () => {
  const { told } = await ask([
    { measures: ['labour_spend_weekly.net_hours'], dimensions: ['dim_agency.agency_name'] },
    { measures: ['headcount_weekly.assignments', 'headcount_weekly.net_hours'], dimensions: [] },
  ])
  const [byName, whole] = await Promise.all(told.map(([sql]) => login.rows(sql)))
  const ours = await login.rows(
    'select agency_name, sum(net_hours) as net_hours from mart.labour_spend_weekly group by agency_name',
  )
  const names = ['agency_name', 'net_hours']
  expect(shown(byName ?? [], names)).toEqual(shown(ours, names))
  expect(shown(whole ?? [], ['assignments'])).toEqual(['[null]'])
  expect(shown(whole ?? [], ['net_hours'])).not.toEqual(['[null]'])
})
