/** The commands of docs/read-the-data.md run as they are written there. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import { run } from '../../src/cli/program.ts'
import { captured, temporaryFolder } from '../support/captured-world.ts'

const page = readFileSync(fileURLToPath(new URL('../../docs/read-the-data.md', import.meta.url)), 'utf8')
const lines = [...page.matchAll(/^ {4}(\S.*)$/gm)].map(([, line = '']) => line)
const written = lines.filter(line => line.startsWith('muster docs ')).map(line => line.split(' ').slice(1))
const folders = written.flatMap(args => args.filter((_, index) => args[index - 1]?.startsWith('--')))

/** A star at the end stands for whatever is there. */
const isThere = (folder: string, name: string): boolean =>
  name.endsWith('/*')
    ? readdirSync(join(folder, name.slice(0, -2))).length > 0
    : existsSync(join(folder, name))

describe.each([
  ['without settings', {}],
  ['with those of DuckDB', { MUSTER_WAREHOUSE: 'duckdb:w.duckdb' }],
  ['with those of PostgreSQL', { MUSTER_WAREHOUSE: 'postgres://muster_bi@127.0.0.1:1/warehouse' }],
])('docs/read-the-data.md, %s', (_, env) => {
  test('every muster docs writes its folders, and what the other commands name is in them', async () => {
    expect(written.length).toBeGreaterThan(5)
    const cwd = join(temporaryFolder(), 'new')
    mkdirSync(cwd)
    for (const args of written) {
      const { world, err } = captured({ cwd, env })
      expect([args.join(' '), await run(args, world, commandSet), err()]).toEqual([args.join(' '), 0, ''])
    }
    expect(folders.filter(folder => readdirSync(join(cwd, folder)).length === 0)).toEqual([])
    const named = lines
      .filter(line => !line.startsWith('muster '))
      .flatMap(line => line.match(/\bbi\/[\w./*-]+/g) ?? [])
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter(name => !isThere(cwd, name))).toEqual([])
  })
})

test('the metric and the dimension that the page asks MetricFlow for are declared', async () => {
  const cwd = join(temporaryFolder(), 'metrics')
  mkdirSync(cwd)
  await run(['docs', '--metricflow', 'bi/metrics'], captured({ cwd }).world, commandSet)
  const text = readdirSync(cwd, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.yml'))
    .map(name => readFileSync(join(cwd, name), 'utf8'))
    .join('\n')
  const [, metric = '', entity = '', dimension = ''] =
    /--metrics (\w+) --group-by (\w+)__(\w+)/.exec(page) ?? []
  const names = [metric, entity, dimension]
  expect(names.filter(name => name === '' || !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
})
