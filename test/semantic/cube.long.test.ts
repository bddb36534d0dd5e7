/** Cube compiles the data model, and makes SQL of it that runs on the marts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readMarts } from '../../src/marts/mart.ts'
import { semanticCatalogue } from '../../src/semantic/catalogue.ts'
import { cubeBundle } from '../../src/semantic/cube.ts'
import { buildAll } from '../marts/build-all.ts'
import { useFilled } from '../marts/filled-warehouse.ts'
import { placeOfServer } from './places.ts'
import { nodeTool, run, writeFiles } from './tool.ts'

const filled = useFilled()
const folder = mkdtempSync(join(tmpdir(), 'muster-cube-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const program = (model: string, tool: string): string => `
const { prepareCompiler, PostgresQuery } = require(${JSON.stringify(join(tool, 'node_modules/@cubejs-backend/schema-compiler'))})
const { readdirSync, readFileSync } = require('fs')
const files = readdirSync(${JSON.stringify(model)}).map(name => ({ fileName: name, content: readFileSync(${JSON.stringify(model)} + '/' + name, 'utf8') }))
const all = prepareCompiler({ localPath: () => '', dataSchemaFiles: async () => files }, { allowNodeRequire: false, standalone: true })
all.compiler.compile().then(() => {
  const cubes = all.metaTransformer ? all.metaTransformer.cubes.length : all.cubeEvaluator.cubeNames().length
  const query = new PostgresQuery(all, {
    measures: ['labour_spend_weekly.net_hours', 'headcount_weekly.fte'].slice(0, 1),
    dimensions: ['dim_agency.agency_name'],
    timezone: 'UTC',
  })
  console.log('TOLD ' + JSON.stringify({ cubes, query: query.buildSqlAndParams() }))
}).catch(error => { console.error(String(error).slice(0, 4000)); process.exit(1) })
`

test('every cube compiles; hours by the name of the agency are those of the mart', async () => {
  const tool = await nodeTool('cube', ['@cubejs-backend/schema-compiler@1'])
  const server = await filled.postgres()
  await buildAll(server.engine)
  const entities = semanticCatalogue(readMarts())
  writeFiles(folder, cubeBundle({ entities, place: placeOfServer(server), version: '0' }))
  const script = join(folder, 'compile.cjs')
  writeFileSync(script, program(join(folder, 'model/cubes'), tool))
  const { code, output } = await run(process.execPath, [script], { cwd: folder })
  expect([code, output.slice(0, 3000)]).toEqual([0, expect.stringContaining('TOLD ')])
  const told = JSON.parse(output.slice(output.indexOf('TOLD ') + 5).split('\n')[0] ?? '')
  expect(told.cubes).toBe(entities.length)
  const [sql, values] = told.query
  expect(values).toEqual([])
  const rows = await server.engine.rows<Record<string, unknown>>(sql)
  const ours = await server.engine.rows<Record<string, unknown>>(
    'select agency_name, sum(net_hours) as hours from mart.labour_spend_weekly group by agency_name',
  )
  const pairs = (all: readonly Record<string, unknown>[]): string[] =>
    all
      .map(row =>
        Object.values(row)
          .map(value => (Number.isFinite(Number(value)) ? Number(value) : value))
          .join(),
      )
      .sort()
  expect(pairs(rows)).toEqual(pairs(ours))
})
