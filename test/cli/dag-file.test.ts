/** DAG files: what is accepted, what is refused in one line, and in which order tasks come. */
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dagFiles, parseDag } from '../../src/app/dag/dag-file.ts'
import { commandSet } from '../../src/cli/commands.ts'
import { ConfigError } from '../../src/lib/errors.ts'
import { temporaryFolder } from './captured-world.ts'

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
    ['no tasks', 'tasks: {}', 'tasks: has none'],
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
