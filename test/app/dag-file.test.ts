/** DAG files: what is accepted, what is refused in one line, and in which order tasks come. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dagFiles, parseDag } from '../../src/app/dag/dag-file.ts'
import { commandSet } from '../../src/cli/commands.ts'
import { ConfigError } from '../../src/lib/errors.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

const COMMANDS = ['sync', 'sweep', 'publish', 'build', 'check', 'crosscheck', 'workers create', 'dag run']
const HEAD = 'name: nightly\ndescription: Every night.\nschedule: 30 2 * * *\n'

const parse = (text: string) => parseDag({ file: 'dags/nightly.yaml', text }, COMMANDS)
const ids = (text: string) => parse(text).tasks.map(task => task.id)

test('reads names, arguments and needs', () => {
  const dag = parse(`${HEAD}tasks:\n  load: { run: sync, args: [timesheets, --max-requests, 500] }\n`)
  expect(dag).toEqual({
    name: 'nightly',
    description: 'Every night.',
    schedule: '30 2 * * *',
    tasks: [
      {
        id: 'load',
        run: 'sync',
        args: ['timesheets', '--max-requests', '500'],
        needs: [],
        after: [],
        writes: true,
      },
    ],
  })
})

test('puts tasks after what they need, otherwise in the order of the file', () => {
  expect(
    ids(`${HEAD}tasks:
  publish: { run: publish, needs: [check, load] }
  load: { run: sync }
  check: { run: check, after: [load] }
  other: { run: build }
`),
  ).toEqual(['load', 'check', 'publish', 'other'])
})

test('the nightly DAG syncs, builds, compares, checks, then publishes what passed', () => {
  const text = readFileSync(new URL('../../dags/nightly.yaml', import.meta.url), 'utf8')
  const dag = parseDag({ file: 'dags/nightly.yaml', text }, Object.keys(commandSet.commands))
  expect(dag.tasks.map(task => [task.id, task.run, task.needs, task.after])).toEqual([
    ['sync', 'sync', [], []],
    ['counts', 'sweep', ['sync'], []],
    ['crosscheck', 'crosscheck', ['sync'], ['counts']],
    ['build', 'build', [], ['crosscheck']],
    ['check', 'check', [], ['build']],
    ['audit', 'audit-pii', [], ['check']],
    ['retention', 'retention', [], ['audit']],
    ['publish', 'publish', ['check', 'audit'], []],
    ['lake', 'lake', ['check', 'audit'], ['publish']],
  ])
})

test('every DAG that comes with the program runs commands that it has', () => {
  const commands = Object.keys(commandSet.commands)
  const names = dagFiles(temporaryFolder()).map(source => parseDag(source, commands).name)
  expect(names).toEqual(['nightly', 'weekly'])
})

describe('refuses', () => {
  test.each([
    [
      'a command that is none',
      'tasks: { a: { run: snyc } }',
      'task a runs snyc, which is not a command, did you mean sync?',
    ],
    [
      'a need that is no task',
      'tasks: { load: { run: sync }, b: { run: build, needs: [laod] } }',
      'task b needs laod, which is not a task, did you mean load?',
    ],
    [
      'a task to come after that is none',
      'tasks: { load: { run: sync }, b: { run: build, after: [laod] } }',
      'task b comes after laod, which is not a task, did you mean load?',
    ],
    [
      'a task that needs itself',
      'tasks: { a: { run: sync, needs: [a] } }',
      'tasks wait for each other: a needs a',
    ],
    [
      'a cycle',
      'tasks: { z: { run: sync, needs: [a] }, a: { run: sync, needs: [b] }, b: { run: sync, needs: [a] } }',
      'tasks wait for each other: a needs b needs a',
    ],
    [
      'a task that runs DAGs',
      'tasks: { a: { run: dag run, args: [nightly] } }',
      'task a runs dag run, which a task cannot: it would never end',
    ],
    ['no tasks', 'tasks: {}', 'tasks: must name at least one task'],
    ['an unknown key', 'tasks: { a: { run: sync, need: [] } }', 'tasks.a: Unrecognized key: "need"'],
    ['text that is not YAML', 'tasks: [', '5:1 Flow sequence'],
  ])('%s', (_, tasks, expected) => {
    const attempt = () => parse(`${HEAD}${tasks}\n`)
    expect(attempt).toThrow(ConfigError)
    expect(attempt).toThrow(`dags/nightly.yaml: ${expected}`)
  })

  test('a schedule that is not cron', () => {
    expect(() => parse('name: n\ndescription: d\nschedule: daily\ntasks: { a: { run: sync } }')).toThrow(
      'dags/nightly.yaml: schedule: must be five cron fields, as in 30 2 * * *',
    )
  })
})

describe('the arguments of a task are tried before anything runs', () => {
  const wrong: readonly (readonly [task: string, said: string])[] = [
    ['run: sync, args: [--max-request, 5]', "unknown option '--max-request', did you mean --max-requests?"],
    ['run: sync, args: [timesheets, timesheet]', 'there is no resource timesheet, did you mean timesheets?'],
    ['run: sync, args: [--max-requests, many]', "'many' is invalid. Give a whole number of at least 1."],
    [
      'run: check, args: [--except, resource_whole]',
      'no check resource_whole, did you mean resources_complete?',
    ],
    ['run: build, args: [worker_wek]', 'there is no mart worker_wek, did you mean worker_week?'],
    ['run: crosscheck, args: [--group-by, agncy]', "'agncy' is invalid. Give all, or some of company"],
    ['run: publish, args: [now]', "too many arguments for 'publish'"],
    ['run: dag export, args: [crn, nightly]', 'there is no scheduler crn, did you mean cron?'],
    ['run: workers create', "missing required argument 'file'"],
    ['run: sync, args: [--connection, acne]', 'there is no connection acne, did you mean acme?'],
  ]
  const env = { KEY: 'a1b2c3d4e5' }
  const folder = (tasks: string): string => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'dags'))
    mkdirSync(join(cwd, 'config'))
    writeFileSync(
      join(cwd, 'config/muster.yaml'),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: settings name variables so
      'connections: { acme: { baseUrl: https://a.example.com, apiKey: ${KEY}, warehouse: "duckdb:a.duckdb" } }\n',
    )
    writeFileSync(join(cwd, 'dags/nightly.yaml'), `${HEAD}tasks:\n${tasks}`)
    return cwd
  }

  test.each(['dag list', 'dag run nightly', 'dag export cron nightly'])('by %s', async line => {
    const tasks = wrong.map(([task], place) => `  t${place}: { ${task} }\n`).join('')
    const { code, out, err } = await muster(line, { cwd: folder(tasks), env })
    expect(code).toBe(78)
    const told = line === 'dag list' ? out : err
    for (const [place, [, said]] of wrong.entries()) {
      expect(told).toContain(`task t${place}: `)
      expect(told.slice(told.indexOf(`task t${place}: `))).toContain(said)
    }
    if (line !== 'dag list') expect(err).toMatch(/^muster: dags\/nightly.yaml: [^\n]*\n$/)
  })

  test('and those that are right are taken', async () => {
    const cwd = folder(
      '  a: { run: sync, args: [timesheets, --max-requests, 5, --connection, acme] }\n  b: { run: check, args: [--except, resources_complete] }\n  c: { run: get, args: [/timesheets] }\n',
    )
    expect(await muster('dag list', { cwd, env })).toMatchObject({ code: 0, err: '' })
  })
})

test('any acyclic file is put in order, whatever the order in which it is written', () => {
  const graph = fc.integer({ min: 1, max: 8 }).chain(size =>
    fc.record({
      needs: fc.array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: size, maxLength: size }),
      order: fc.shuffledSubarray([...Array(size).keys()], { minLength: size }),
    }),
  )
  fc.assert(
    fc.property(graph, ({ needs, order }) => {
      const lines = order.map(index => {
        const earlier = (needs[index] ?? []).filter(need => need < index).map(need => `t${need}`)
        return `  t${index}: { run: sync, needs: [${earlier.join(', ')}] }`
      })
      const { tasks } = parse(`${HEAD}tasks:\n${lines.join('\n')}\n`)
      const place = new Map(tasks.map((task, index) => [task.id, index]))
      return (
        tasks.length === order.length &&
        tasks.every((task, index) => task.needs.every(need => (place.get(need) ?? index) < index))
      )
    }),
  )
})
