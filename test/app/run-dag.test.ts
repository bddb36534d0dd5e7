/** Running a DAG: what a failure takes down, what it leaves alone, and the exit code of the whole. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Dag, fromTask, onlyTask } from '../../src/app/dag/dag-file.ts'
import { dagExitCode, runDag, type TaskOutcome } from '../../src/app/dag/run-dag.ts'
import type { CommandModule } from '../../src/cli/command.ts'
import { command as dagList } from '../../src/cli/commands/dag-list.ts'
import { command as dagRun } from '../../src/cli/commands/dag-run.ts'
import type { ExitStatus } from '../../src/lib/errors.ts'
import { muster, programOf, temporaryFolder } from '../support/captured-world.ts'

function dagOf(needs: Record<string, readonly string[]>, after: Record<string, readonly string[]> = {}): Dag {
  const tasks = Object.entries(needs).map(([id, list]) => ({
    id,
    run: id,
    args: [],
    needs: list,
    after: after[id] ?? [],
    writes: true,
  }))
  return { name: 'test', description: '', schedule: '', tasks }
}

async function outcomesOf(dag: Dag, codes: Record<string, number | Error>, signal?: AbortSignal) {
  let now = 0
  const recorded: TaskOutcome[] = []
  const outcomes = await runDag(dag, {
    runTask: async task => {
      now += 10
      const code = codes[task.id] ?? 0
      if (code instanceof Error) throw code
      return { status: code }
    },
    now: () => now,
    record: outcome => void recorded.push(outcome),
    ...(signal && { signal }),
  })
  expect(recorded).toEqual(outcomes)
  return outcomes
}

const states = (outcomes: readonly TaskOutcome[]) =>
  outcomes.map(outcome => `${outcome.task} ${outcome.state}`)

const chain = dagOf({ a: [], b: ['a'], c: ['b'], d: [] })

describe('runDag', () => {
  test('runs every task once, one after the other', async () => {
    const outcomes = await outcomesOf(chain, {})
    expect(outcomes.map(({ startedAt, finishedAt }) => [startedAt, finishedAt])).toEqual([
      [0, 10],
      [10, 20],
      [20, 30],
      [30, 40],
    ])
    expect(dagExitCode(outcomes)).toBe(0)
  })

  test('a task that only comes after a failed one runs, and what it needs decides', async () => {
    const dag = dagOf({ sync: [], counts: ['sync'], build: [], publish: ['build'] }, { build: ['sync'] })
    for (const code of [1, 75, new Error('gone')]) {
      const outcomes = await outcomesOf(dag, { sync: code })
      expect(states(outcomes)).toEqual([
        code === 75 ? 'sync later' : 'sync failed',
        code === 75 ? 'counts done' : 'counts skipped',
        'build done',
        'publish done',
      ])
      expect(dagExitCode(outcomes)).toBe(code === 75 ? 75 : 1)
    }
  })

  test('a failure takes down only what needs it', async () => {
    const outcomes = await outcomesOf(chain, { a: 3 })
    expect(states(outcomes)).toEqual(['a failed', 'b skipped', 'c skipped', 'd done'])
    expect(outcomes.map(outcome => outcome.error)).toEqual([
      'a ended with exit code 3',
      'needs a, which failed',
      'needs b, which was skipped',
      undefined,
    ])
  })

  test.each([
    [{ a: 78, d: 1 }, 78],
    [{ a: 1, d: 3 }, 1],
    [{ a: 3, d: 75 }, 3],
    [{ a: 75 }, 75],
    [{ a: 2 }, 1],
    [{}, 0],
  ])('%j ends with the worst of them, %i', async (codes, worst) => {
    expect(dagExitCode(await outcomesOf(chain, codes))).toBe(worst)
  })

  test('the DAG ends as a failed check only where nothing but checks failed', async () => {
    expect(dagExitCode(await outcomesOf(chain, { a: 3 }))).toBe(3)
    expect(dagExitCode(await outcomesOf(chain, { a: 3, d: 1 }))).toBe(1)
    expect(dagExitCode(await outcomesOf(chain, { a: 3, d: new Error('broken') }))).toBe(1)
    expect(dagExitCode(await outcomesOf(chain, { a: 3, d: 75 }))).toBe(3)
  })

  test('a thrown error is a failure with its message', async () => {
    const [first] = await outcomesOf(chain, { a: new Error('broken') })
    expect(first).toMatchObject({ state: 'failed', error: 'broken' })
  })

  test('a spent budget lets the rest run, and asks to be run again', async () => {
    const outcomes = await outcomesOf(chain, { a: 75 })
    expect(states(outcomes)).toEqual(['a later', 'b done', 'c done', 'd done'])
    expect(dagExitCode(outcomes)).toBe(75)
    expect(dagExitCode(await outcomesOf(chain, { a: 75, d: 1 }))).toBe(1)
  })

  test('after a wish to stop nothing more is begun', async () => {
    const outcomes = await outcomesOf(chain, {}, AbortSignal.abort())
    expect(states(outcomes)).toEqual(['a later', 'b later', 'c later', 'd later'])
    expect(dagExitCode(outcomes)).toBe(75)
  })
})

test('a part of a DAG is one task, or a task and what waits for it', async () => {
  const dag = dagOf({ sync: [], counts: ['sync'], build: [], publish: ['build'] }, { build: ['sync'] })
  const idsOf = ({ tasks }: Dag) => tasks.map(({ id, needs, after }) => [id, ...needs, ...after].join(' '))
  expect(idsOf(onlyTask(dag, 'publish'))).toEqual(['publish'])
  expect(idsOf(fromTask(dag, 'build'))).toEqual(['build', 'publish build'])
  expect(idsOf(fromTask(dag, 'sync'))).toEqual(['sync', 'counts sync', 'build sync', 'publish build'])
  expect(() => fromTask(dag, 'bild')).toThrow('test has no task bild: did you mean build?')
  expect(states(await outcomesOf(fromTask(dag, 'build'), {}))).toEqual(['build done', 'publish done'])
})

describe('muster dag', () => {
  const seen: unknown[] = []
  const ending = (name: string, code: ExitStatus): CommandModule => ({
    arguments: [{ name: '[word...]', summary: 'words' }],
    examples: [],
    run: async (context, args) => {
      seen.push([name, args, context.globals])
      context.stdout.write(`${name} ran\n`)
      return code
    },
  })
  const commands = programOf({
    'dag list': dagList,
    'dag run': dagRun,
    good: ending('good', 0),
    bad: ending('bad', 1),
  })

  function folderWith(tasks: string, name = 'nightly'): string {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'dags'))
    const text = `name: ${name}\ndescription: Every night.\nschedule: 30 2 * * *\ntasks: ${tasks}\n`
    writeFileSync(join(cwd, 'dags', 'nightly.yaml'), text)
    return cwd
  }

  test('run NAME runs the commands in this process, with the same global options', async () => {
    const cwd = folderWith('{ one: { run: good, args: [x] }, two: { run: bad, needs: [one] } }')
    const { code, out, err } = await muster('dag run nightly --connection acme', { cwd }, commands)
    expect(code).toBe(1)
    expect(seen.splice(0)).toEqual([
      ['good', ['x'], { connection: 'acme', wait: 600_000 }],
      ['bad', [], { connection: 'acme', wait: 600_000 }],
    ])
    expect(out).toContain('two   failed        0  bad ended with exit code 1')
    expect(err).toBe('nightly: good x\nnightly: bad\n')
  })

  test('run NAME --json prints one document; what the tasks print goes to stderr', async () => {
    const cwd = folderWith('{ one: { run: good } }')
    const { code, out, err } = await muster('dag run nightly --json', { cwd }, commands)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({
      dag: 'nightly',
      tasks: [
        {
          task: 'one',
          state: 'done',
          startedAt: '2026-01-01T00:00:00.000Z',
          finishedAt: '2026-01-01T00:00:00.000Z',
        },
      ],
    })
    expect(err).toBe('nightly: good\ngood ran\n')
  })

  test('list shows what is wrong with a file beside those that are right', async () => {
    const cwd = folderWith('{ one: { run: god } }')
    const { code, out } = await muster('dag list', { cwd }, commands)
    expect(code).toBe(78)
    expect(out).toContain('dags/nightly.yaml: task one runs god, which is not a command, did you mean good?')
    const right = await muster('dag list --json', { cwd: folderWith('{ one: { run: good } }') }, commands)
    expect(right.code).toBe(0)
    expect(JSON.parse(right.out)).toEqual([
      {
        name: 'nightly',
        schedule: '30 2 * * *',
        tasks: [{ id: 'one', run: 'good', args: [], needs: [], after: [], writes: true }],
        description: 'Every night.',
        connections: [],
      },
    ])
  })

  test('list shows what a scheduler needs of each connection, also when another connection is invalid', async () => {
    const cwd = folderWith('{ one: { run: good } }')
    mkdirSync(join(cwd, 'config'))
    const acme = 'acme: { baseUrl: "https://a.test", apiKey: [], warehouse: "duckdb:a.duckdb" }'
    const wrong = 'other: { baseUrl: "https://b.test", apiKey: k, warehouse: "mysql:b", waitMinutes: 3 }'
    const settings = (...lines: readonly string[]) =>
      writeFileSync(join(cwd, 'config/muster.yaml'), `connections:\n  ${lines.join('\n  ')}\n`)
    settings(acme, wrong, wrong.replace('other', 'pg').replace('mysql:b', 'postgres://u@h:5432/d'))
    const { out } = await muster('dag list --json', { cwd }, commands)
    expect(JSON.parse(out)[0].connections).toEqual([
      { name: 'acme', product: 'DuckDB', writers: 1, waitMinutes: 10 },
      {
        name: 'other',
        product: null,
        writers: null,
        waitMinutes: 10,
        problem: expect.stringMatching(/^line 3: connections.other.warehouse must be duckdb:FILE/),
      },
      { name: 'pg', product: 'PostgreSQL', writers: null, waitMinutes: 3 },
    ])
    settings(wrong)
    expect(await muster('dag list', { cwd }, commands)).toMatchObject({
      code: 78,
      err: expect.stringMatching(/^muster: config\/muster.yaml is wrong: line 2: [^\n]*\n$/),
    })
    settings(acme)
    expect(await muster('dag list --connection acne', { cwd }, commands)).toMatchObject({ code: 2 })
  })

  test('settings that are wrong are one line before anything runs', async () => {
    const cwd = folderWith('{ one: { run: good }, two: { run: good } }')
    mkdirSync(join(cwd, 'config'))
    writeFileSync(
      join(cwd, 'config/muster.yaml'),
      'connections: { acme: { baseUrl: https://a.example.com, landing: "s3://", warehouse: "duckdb:a.duckdb" } }\n',
    )
    seen.splice(0)
    expect(await muster('dag run nightly', { cwd }, commands)).toMatchObject({
      code: 78,
      out: '',
      err: expect.stringMatching(/^muster: config\/muster.yaml is wrong: [^\n]*landing must be [^\n]*\n$/),
    })
    expect(seen).toEqual([])
  })

  test('a connection that the settings do not have is wrong usage, and of several each task names its own', async () => {
    const cwd = folderWith('{ one: { run: good }, two: { run: good } }')
    mkdirSync(join(cwd, 'config'))
    const [one, other] = ['a', 'b'].map(
      name => `  ${name}: { baseUrl: https://a.example.com, warehouse: "duckdb:${name}.duckdb" }\n`,
    )
    writeFileSync(join(cwd, 'config/muster.yaml'), `connections:\n${one}${other}`)
    seen.splice(0)
    expect(await muster('dag run nightly --connection c', { cwd }, commands)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^muster: no connection is named c [^\n]*\n$/),
    })
    expect(seen).toEqual([])
    expect(await muster('dag run nightly', { cwd }, commands)).toMatchObject({ code: 0 })
    expect(seen.map(call => (call as unknown[])[0])).toEqual(['good', 'good'])
  })

  test('a bucket that cannot be reached is one line before anything runs', async () => {
    const cwd = folderWith('{ one: { run: good }, two: { run: good } }')
    const env = {
      MUSTER_BASE_URL: 'http://127.0.0.1:9/api/open/v1',
      MUSTER_API_KEY: 'key',
      MUSTER_WAREHOUSE: 'duckdb:a.duckdb',
      MUSTER_LANDING: 's3://bucket/acme',
    }
    // Read from the environment by the client of the bucket itself.
    const ofClient = { AWS_ENDPOINT_URL: 'http://127.0.0.1:9', AWS_REGION: 'eu-west-1' }
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }
    Object.assign(process.env, ofClient, keys)
    seen.splice(0)
    expect(await muster('dag run nightly', { cwd, env }, commands)).toMatchObject({
      code: 75,
      out: '',
      err: expect.stringMatching(/^muster: the bucket cannot be reached [^\n]*s3:\/\/bucket\/acme[^\n]*\n$/),
    })
    expect(seen).toEqual([])
    for (const name of Object.keys({ ...ofClient, ...keys })) delete process.env[name]
  })

  test('an unknown name, and a name unlike its file, are one line', async () => {
    const cwd = folderWith('{ one: { run: good } }', 'weekly')
    expect(await muster('dag run nightlly', { cwd }, commands)).toMatchObject({
      code: 2,
      err: 'muster: there is no DAG named nightlly: did you mean nightly?\n',
    })
    expect(await muster('dag run nightly', { cwd }, commands)).toMatchObject({
      code: 78,
      err: 'muster: dags/nightly.yaml: name is weekly: it must be nightly, like the file\n',
    })
  })
})
