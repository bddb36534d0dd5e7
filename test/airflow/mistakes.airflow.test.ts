/** What somebody has to mend is one line of an import error in Airflow; and how often muster.py asks the program. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryFolder } from '../support/captured-world.ts'
import { type AirflowPlace, airflowPlace, root, virtualEnvironment } from './place.ts'

const program = `${process.execPath} ${join(root, 'dist/main.js')}`
const settings = (more = ''): string =>
  `connections:\n  acme: { baseUrl: "https://api.example.com", apiKey: "k", warehouse: "duckdb:data/acme.duckdb" }\n${more}`

let place: AirflowPlace

beforeAll(() => {
  place = airflowPlace(settings())
}, 2_400_000)
afterAll(() => place?.remove())

interface Imported {
  /** Description and page of each DAG. */
  readonly dags: Record<string, [string, string]>
  readonly errors: readonly string[]
}

type Variables = Readonly<Record<string, string>>

async function imported(cases: readonly Variables[]): Promise<readonly Imported[]> {
  const [script, file] = [join(root, 'test/airflow/imports.py'), join(root, 'dags/airflow/muster.py')]
  const { code, out, text } = await place.given(JSON.stringify(cases), 'python', script, file)
  if (code !== 0) throw new Error(text)
  return JSON.parse(out.trim().split('\n').at(-1) ?? '')
}

/** A folder of its own for each mistake. */
function homeWith(files: Readonly<Record<string, string>>): string {
  const home = temporaryFolder()
  for (const folder of ['config', 'dags']) mkdirSync(join(home, folder))
  for (const [name, text] of Object.entries({ 'config/muster.yaml': settings(), ...files }))
    if (text !== '') writeFileSync(join(home, name), text)
  return home
}

const dagOf = (tasks: string): Readonly<Record<string, string>> => ({
  'dags/own.yaml': `name: own\ndescription: Ours.\nschedule: 0 4 * * *\ntasks: ${tasks}\n`,
})

const mistakes: readonly (readonly [string, Variables, RegExp])[] = [
  [
    'a program that is not there',
    { MUSTER_COMMAND: '/nowhere/muster' },
    /^\/nowhere\/muster does not start \(No such file or directory\): set MUSTER_COMMAND/,
  ],
  ['a command that is none', { MUSTER_COMMAND: 'muster "' }, /^MUSTER_COMMAND is no command/],
  ['an empty command', { MUSTER_COMMAND: ' ' }, /^MUSTER_COMMAND is empty/],
  ['another program', { MUSTER_COMMAND: 'echo' }, /^echo dag list --json lists no DAGs: it ended with 0$/],
  [
    'a folder that is not there',
    { MUSTER_HOME: '/nowhere' },
    /^there is no folder \/nowhere: set MUSTER_HOME/,
  ],
  [
    'no settings',
    { MUSTER_HOME: homeWith({ 'config/muster.yaml': '' }) },
    /has no settings with a connection/,
  ],
  [
    'an unknown connection',
    { MUSTER_COMMAND: `${program} --connection acne` },
    /^no connection is named acne.*acme/,
  ],
  [
    'a wrong setting',
    { MUSTER_HOME: homeWith({ 'config/muster.yaml': settings().replace('warehouse:', 'warehose:') }) },
    /^config\/muster.yaml is wrong.*warehose/,
  ],
  [
    'settings that are no YAML',
    { MUSTER_HOME: homeWith({ 'config/muster.yaml': 'connections: [' }) },
    /^config\/muster.yaml:\d+/,
  ],
  [
    'a task that is not there',
    { MUSTER_HOME: homeWith(dagOf('{ one: { run: sync, needs: [two] } }')) },
    /^dags\/own.yaml: task one needs two, which is not a task/,
  ],
  [
    'tasks that wait for each other',
    { MUSTER_HOME: homeWith(dagOf('{ a: { run: sync, needs: [b] }, b: { run: build, needs: [a] } }')) },
    /^dags\/own.yaml: tasks wait for each other: a needs b needs a/,
  ],
  [
    'a name of a task that Airflow does not take',
    { MUSTER_HOME: homeWith(dagOf('{ "sync people": { run: sync } }')) },
    /^muster_acme_own: .*sync people/,
  ],
]

test('each mistake is one line', { timeout: 600_000 }, async () => {
  const found = await imported(mistakes.map(([, variables]) => variables))
  for (const [index, [what, , line]] of mistakes.entries()) {
    const { dags = {}, errors = [] } = found[index] ?? {}
    expect({ what, dags: Object.keys(dags), errors: errors.length }).toEqual({ what, dags: [], errors: 1 })
    const told = errors[0]?.trim().split('\n') ?? []
    expect({ what, told: told.at(-1)?.replace(/^.*Mistake: /, '') }).toEqual({
      what,
      told: expect.stringMatching(line),
    })
  }
})

test('a connection whose settings are wrong leaves the others alone, and pages link to the dashboard', {
  timeout: 600_000,
}, async () => {
  const home = homeWith({
    'config/muster.yaml': settings('  other: { baseUrl: "https://api.example.com", warehouse: "mysql:x" }\n'),
  })
  const [found] = await imported([{ MUSTER_HOME: home, MUSTER_DASHBOARD: 'http://127.0.0.1:4000' }])
  expect(found?.errors).toEqual([])
  const { muster_acme_nightly: right, muster_other_nightly: wrong } = found?.dags ?? {}
  expect(right?.[0]).toMatch(/^Sync, build the marts/)
  expect(right?.[1]).toContain('[Dashboard](http://127.0.0.1:4000)')
  expect(wrong?.[0]).toMatch(/^The settings are wrong: line 3: .*duckdb:FILE/)
})

test('the program is asked once, and again when a file has changed', { timeout: 600_000 }, async () => {
  const home = homeWith(dagOf('{ one: { run: sync } }'))
  const [wrapper, calls] = [join(home, 'muster'), join(home, 'calls')]
  writeFileSync(wrapper, `#!/bin/sh\necho called >> ${calls}\nexec ${program} "$@"\n`)
  chmodSync(wrapper, 0o755)
  const own: Variables = { MUSTER_HOME: home, MUSTER_COMMAND: wrapper }
  const asked = (): number => readFileSync(calls, 'utf8').trim().split('\n').length
  const [first, again] = await imported([own, own])
  expect(first?.errors).toEqual([])
  expect(Object.keys(again?.dags ?? {})).toEqual(['muster_acme_own'])
  expect(again).toEqual(first)
  expect(asked()).toBe(1)
  utimesSync(join(home, 'config/muster.yaml'), new Date(), new Date())
  await imported([own, own])
  expect(asked()).toBe(2)
  writeFileSync(
    join(home, 'dags/more.yaml'),
    dagOf('{ two: { run: build } }')['dags/own.yaml']?.replace('own', 'more') ?? '',
  )
  const [more] = await imported([own])
  expect(Object.keys(more?.dags ?? {}).sort()).toEqual(['muster_acme_more', 'muster_acme_own'])
  expect(asked()).toBe(3)
})

test('pools are listed, and a mistake there is one line too', async () => {
  const file = join(root, 'dags/airflow/muster.py')
  const pools = await place.program('python', file)
  expect(Object.keys(JSON.parse(pools.out))).toEqual(['muster_acme'])
  const { code, text } = await place.given('', 'env', 'MUSTER_HOME=/nowhere', 'python', file)
  expect({ code, text: text.trim() }).toEqual({
    code: 1,
    text: 'there is no folder /nowhere: set MUSTER_HOME to the folder with config/muster.yaml',
  })
})

test('names an Airflow that is too old in one line', () => {
  const old = temporaryFolder()
  mkdirSync(join(old, 'airflow'))
  writeFileSync(join(old, 'airflow/__init__.py'), '__version__ = "2.11.0"\n')
  const code = `import sys; sys.path[:0] = [${JSON.stringify(old)}, ${JSON.stringify(join(root, 'dags/airflow'))}]
try:
    import muster
except ImportError as error:
    print(error)`
  const told = execFileSync(join(virtualEnvironment(), 'bin/python'), ['-c', code], { encoding: 'utf8' })
  expect(told).toBe('muster.py needs Airflow 3.1 or later, and this is 2.11.0: upgrade Airflow\n')
})
