/**
 * A DuckDB file that is encrypted with a key of the settings, by the newest DuckDB whose extension httpfs is in a package
 * registry: the built program over that DuckDB, installed into a folder of its own.
 */
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { temporaryFolder } from '../cli/captured-world.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { nodeTool, pythonTool, type Ran, run } from '../semantic/tool.ts'

const version = '1.5.5'
const project = fileURLToPath(new URL('../..', import.meta.url))

/** The program as it was built, with every package but DuckDB's from here. */
function programOver(duckdb: string): string {
  const folder = temporaryFolder()
  for (const name of ['dist', 'sql', 'dags', 'config', 'package.json'])
    cpSync(join(project, name), join(folder, name), { recursive: true })
  const own = join(folder, 'node_modules')
  mkdirSync(own)
  for (const name of readdirSync(join(project, 'node_modules')))
    if (name !== '@duckdb') symlinkSync(join(project, 'node_modules', name), join(own, name))
  symlinkSync(join(duckdb, 'node_modules/@duckdb'), join(own, '@duckdb'))
  return join(folder, 'dist/main.js')
}

/** A home in which `INSTALL httpfs` was run. */
function homeWith(programs: string): string {
  const packages = readdirSync(join(programs, '../lib')).map(name =>
    join(programs, '../lib', name, 'site-packages'),
  )
  const file = join('duckdb_extension_httpfs/extensions', `v${version}`, 'httpfs.duckdb_extension')
  const home = temporaryFolder()
  const place = join(home, '.duckdb/extensions', `v${version}`, 'linux_amd64/httpfs.duckdb_extension')
  mkdirSync(dirname(place), { recursive: true })
  cpSync(join(packages[0] ?? '', file), place)
  return home
}

let program: string
let home: string
beforeAll(async () => {
  program = programOver(await nodeTool('duckdb', [`@duckdb/node-api@${version}-r.5`]))
  home = homeWith(await pythonTool('duckdb-httpfs', [`duckdb-extension-httpfs==${version}`]))
}, 600_000)

const key = randomBytes(32).toString('base64')

test('every command works on it with the key, nothing personal is readable without', async () => {
  const sandbox = await openSandbox({ scale: 0.05 })
  const cwd = temporaryFolder()
  const muster = (args: readonly string[], warehouseKey = key): Promise<Ran> =>
    run(process.execPath, [program, ...args], {
      cwd,
      env: {
        MUSTER_BASE_URL: sandbox.url,
        MUSTER_API_KEY: sandboxKeys.company,
        MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
        ...(warehouseKey && { MUSTER_WAREHOUSE_KEY: warehouseKey }),
        HOME: home,
      },
    })
  const good = async (...line: string[]): Promise<string> => {
    const { code, output } = await muster(line)
    expect([line.join(' '), code, code === 0 ? '' : output]).toEqual([line.join(' '), 0, ''])
    return output
  }
  const some = ['users', 'timesheets', 'companies', 'assignments']
  await good('sync', ...some)
  await good('sync', ...some)
  await good('replay')
  await good('build')
  await good('check')
  await good('publish')
  await good('retention')
  const answer = await good('sql', '--csv', 'select name from pii.worker order by length(name) desc limit 5')
  const people = answer.trim().split('\n').slice(1)
  expect(people).toHaveLength(5)
  const bytes = readFileSync(join(cwd, 'w.duckdb'))
  expect(people.filter(name => bytes.includes(name))).toEqual([])

  for (const [line, wrong, text] of [
    [['status'], '', /encrypted/],
    [['sync', 'users'], '', /encrypted/],
    [['sql', 'select 1'], '', /encrypted/],
    [['status'], randomBytes(32).toString('hex'), /another key|wrong/i],
    [['replay'], randomBytes(32).toString('hex'), /another key|wrong/i],
    [['sql', 'select 1'], randomBytes(32).toString('hex'), /another key|wrong/i],
  ] as const) {
    const { code, output } = await muster(line, wrong)
    expect([line.join(' '), code]).toEqual([line.join(' '), 78])
    expect(output).toMatch(text)
  }
})
