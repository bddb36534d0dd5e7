/** Two commands on one warehouse file at the same time: the one that rebuilds it keeps all others away to its end. */
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { type Built, start, stopWhen } from '../support/built-program.ts'
import { temporaryFolder } from '../support/captured-world.ts'
import { thorough } from '../support/long-suite.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'
import { type Dump, tables } from '../support/warehouse-dump.ts'

let place: Place
let whole: State

interface State {
  readonly rows: Dump
  readonly ledger: unknown
}

beforeAll(async () => {
  place = await openPlace()
  expect((await place.command('sync timesheets sites --quiet')).code).toBe(0)
  whole = await stateOf(place.file)
})

/** What the rows are, and what only the ledger knows. */
async function stateOf(file: string): Promise<State> {
  const engine = await openDuckdb(file, { readOnly: true })
  try {
    return {
      rows: await tables(engine),
      ledger: [
        await engine.rows('select * from ops.watermark order by resource'),
        await engine.rows('select * from ops.scan order by scan_id'),
        await engine.rows(`select run_id, state from ops.run where command = 'sync' order by run_id`),
      ],
    }
  } finally {
    await engine.close()
  }
}

/** A folder with a copy of the synced warehouse, and its pages. */
function copied() {
  const cwd = temporaryFolder()
  cpSync(dirname(place.file), cwd, { recursive: true })
  const env = {
    MUSTER_BASE_URL: place.sandbox.url,
    MUSTER_API_KEY: sandboxKeys.company,
    MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
  }
  const file = join(cwd, 'w.duckdb')
  const run = (line: string, more: Record<string, string> = {}): Built =>
    start(line, { cwd, env: { ...env, ...more } })
  const drafts = () =>
    readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter(name =>
      /^\.muster-[^/]+.made-[^/]+.w\.duckdb$/.test(name),
    )
  return { cwd, file, run, drafts }
}

const held = (pid: number) =>
  expect.stringMatching(
    new RegExp(`^muster: another process has the warehouse file open \\(process ${pid}\\) [^\\n]*\\n$`),
  )

const others = thorough
  ? [
      'replay --quiet',
      'sync timesheets --quiet',
      'backfill timesheets --from 2026-09-01 --to 2026-09-30 --quiet',
      'sweep timesheets --quiet',
      'build',
      'check',
      'crosscheck',
      'publish',
      'copy --from duckdb:w.duckdb --to duckdb:other.duckdb',
      'copy --from duckdb:other.duckdb --to duckdb:w.duckdb',
    ]
  : ['replay --quiet', 'sync timesheets --quiet']

test('whatever comes while a replay is under way is refused, and the replay loses nothing', async () => {
  const { file, cwd, run, drafts } = copied()
  const replay = run('replay --quiet')
  await stopWhen(replay, () => drafts().length > 0)
  for (const line of others) expect(await run(line).ended).toMatchObject({ code: 75, err: held(replay.pid) })
  if (thorough) {
    // By another name, in another folder, it is the same file.
    mkdirSync(join(cwd, 'links'))
    symlinkSync('../w.duckdb', join(cwd, 'links', 'alias.duckdb'))
    const alias = { MUSTER_WAREHOUSE: 'duckdb:links/../links/alias.duckdb', MUSTER_LANDING: 'w.landing' }
    for (const line of ['replay --quiet', 'sync timesheets --quiet'])
      expect(await run(line, alias).ended).toMatchObject({ code: 75, err: held(replay.pid) })
    expect(await run('sql values(1)', alias).ended).toMatchObject({ err: held(replay.pid) })
  }
  expect(drafts()).toHaveLength(1)
  replay.signal('SIGCONT')
  expect(await replay.ended).toMatchObject({ code: 0, err: '' })
  expect(await stateOf(file)).toEqual(whole)
  expect(drafts()).toEqual([])
})

describe.each([
  ['writes it without heeding its lock', (file: string) => utimesSync(file, 1, 1)],
  [
    'puts another file in its place',
    (file: string) => {
      cpSync(file, `${file}.new`)
      renameSync(`${file}.new`, file)
    },
  ],
])('a program that %s while a replay is under way', (_, meddle) => {
  test.runIf(thorough)('keeps its changes: the replay refuses at the end', async () => {
    const { file, run, drafts } = copied()
    const replay = run('replay --quiet')
    await stopWhen(replay, () => drafts().length > 0)
    meddle(file)
    replay.signal('SIGCONT')
    expect(await replay.ended).toMatchObject({
      code: 75,
      err: expect.stringMatching(/^muster: the warehouse changed while it was rebuilt[^\n]*\n$/),
    })
    expect(await stateOf(file)).toEqual(whole)
    expect(drafts()).toEqual([])
  })
})

const replacedUnder = [
  ['sync --quiet', 'replaced', true],
  ['build --all --quiet', 'replaced', thorough],
  ['sync --quiet', 'removed', thorough],
] as const

test.each(replacedUnder.filter(([, , runs]) => runs))(
  '%s into a file that is %s meanwhile has not succeeded',
  async (line, how) => {
    const { file, run } = copied()
    const kept = `${file}.kept`
    cpSync(file, kept)
    const command = run(line)
    await stopWhen(command, () => existsSync(`${file}.wal`))
    rmSync(file)
    if (how === 'replaced') renameSync(kept, file)
    command.signal('SIGCONT')
    expect(await command.ended).toMatchObject({
      code: 75,
      err: expect.stringMatching(
        /^muster: .*the warehouse file was replaced or removed while it was written[^\n]*\n$/,
      ),
    })
    expect(existsSync(file)).toBe(how === 'replaced')
    if (how === 'replaced') expect(await stateOf(file)).toEqual(whole)
  },
)

test.runIf(thorough)('a lost file is not made twice at the same time', async () => {
  const { file, run, drafts } = copied()
  rmSync(file)
  const replay = run('replay --quiet')
  await stopWhen(replay, () => drafts().length > 0)
  for (const line of ['replay --quiet', 'sync timesheets --quiet'])
    expect(await run(line).ended).toMatchObject({ code: 75, err: held(replay.pid) })
  replay.signal('SIGCONT')
  expect(await replay.ended).toMatchObject({ code: 0, err: '' })
  expect((await stateOf(file)).rows).toEqual(whole.rows)
})

test.runIf(thorough)('the drafts of a killed replay go with the next command that writes', async () => {
  const { file, run, drafts } = copied()
  const replay = run('replay --quiet')
  await stopWhen(replay, () => drafts().length > 0)
  replay.signal('SIGKILL')
  await replay.ended
  expect(drafts()).not.toEqual([])
  expect(await run('publish').ended).toMatchObject({ code: 0, err: '' })
  expect(drafts()).toEqual([])
  expect(await stateOf(file)).toEqual(whole)
})

describe('a warehouse file', () => {
  test.runIf(thorough)('behind a link is rebuilt in its own place', async () => {
    const { cwd, file, run } = copied()
    mkdirSync(join(cwd, 'far'))
    renameSync(file, join(cwd, 'far', 'real.duckdb'))
    symlinkSync(join('far', 'real.duckdb'), file)
    expect(await run('replay --quiet').ended).toMatchObject({ code: 0, err: '' })
    expect(readdirSync(join(cwd, 'far'))).toEqual(['real.duckdb'])
    expect(await stateOf(join(cwd, 'far', 'real.duckdb'))).toEqual(whole)
    expect(await stateOf(file)).toEqual(whole)
  })

  test('with two names is not written', async () => {
    const { file, run } = copied()
    linkSync(file, `${file}.second`)
    expect(await run('replay --quiet').ended).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^muster: the warehouse file has 2 names \(hard links\)[^\n]*\n$/),
    })
    expect(existsSync(`${file}.wal`)).toBe(false)
  })
})
