/** `muster dag run` over a real warehouse: what became of each task is kept in ops.dag_task. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPlace, type Place } from '../support/synced-warehouse.ts'

const tasks = `
  sync: { run: sync, args: [key, --quiet] }
  publish: { run: publish, needs: [sync] }
  after: { run: runs, needs: [publish] }
  beside: { run: runs, needs: [sync] }`

test('a task that fails skips what needs it, and all of it is written down', async () => {
  const place = await openPlace({ records: {} })
  mkdirSync(join(place.cwd, 'dags'))
  writeFileSync(
    join(place.cwd, 'dags', 'own.yaml'),
    `name: own\ndescription: Ours.\nschedule: 30 2 * * *\ntasks:${tasks}\n`,
  )
  mkdirSync(join(place.published, 'in the way'), { recursive: true })
  const { code, out, err } = await place.command('dag run own')
  expect([code, err]).toEqual([1, expect.stringContaining('muster: the published copy cannot be written: ')])
  expect(out).toMatch(/^after +skipped .*needs publish, which failed$/m)
  const query = 'sql --json select task, state, error from ops.dag_task order by finished_at, task'
  const rows = JSON.parse((await place.command(query)).out)
  expect(rows.toSorted((a: { task: string }, b: { task: string }) => a.task.localeCompare(b.task))).toEqual([
    { task: 'after', state: 'skipped', error: 'needs publish, which failed' },
    { task: 'beside', state: 'done', error: null },
    {
      task: 'publish',
      state: 'failed',
      error: expect.stringMatching(/^the published copy cannot be written/),
    },
    { task: 'sync', state: 'done', error: null },
  ])
  rmSync(place.published, { recursive: true })
  expect((await place.command('dag run own --json')).code).toBe(0)
  const runs = await place.command(
    'sql --json select count(distinct dag_run_id) as n, count(*) as tasks from ops.dag_task',
  )
  expect(JSON.parse(runs.out)).toEqual([{ n: 2, tasks: 8 }])
  const nights = await place.command(
    'sql --json select dag, state, reason from ops.dag_run order by finished_at',
  )
  expect(JSON.parse(nights.out)).toEqual([
    { dag: 'own', state: 'failed', reason: expect.stringMatching(/^publish: the published copy cannot be/) },
    { dag: 'own', state: 'done', reason: null },
  ])
  expect((await place.command('status --all')).out).toMatch(/^1 connection: 1 well$/m)
})

const nightsOf = async (place: Place, dag: string): Promise<string[]> => {
  const { out } = await place.command(
    `sql --json select state from ops.dag_run where dag = '${dag}' order by finished_at, started_at`,
  )
  return (JSON.parse(out) as { state: string }[]).map(({ state }) => state)
}

const write = (place: Place, name: string, text: string): void => {
  mkdirSync(join(place.cwd, 'dags'), { recursive: true })
  writeFileSync(
    join(place.cwd, 'dags', `${name}.yaml`),
    `name: ${name}\ndescription: Ours.\nschedule: 30 2 * * *\ntasks:${text}\n`,
  )
}

test('a run of some tasks is no successful DAG run, but it can complete the last one', async () => {
  const place = await openPlace({ records: {} })
  write(place, 'own', tasks)
  expect((await place.command('sync key --quiet')).code).toBe(0)
  for (const part of ['--task sync', '--task beside', '--from publish'])
    expect((await place.command(`dag run own ${part}`)).code).toBe(0)
  expect(await nightsOf(place, 'own')).toEqual([])

  rmSync(place.published)
  mkdirSync(join(place.published, 'in the way'), { recursive: true })
  expect((await place.command('dag run own')).code).toBe(1)
  rmSync(place.published, { recursive: true })
  // What was skipped is still open, and then it is not.
  expect((await place.command('dag run own --task publish')).code).toBe(0)
  expect(await nightsOf(place, 'own')).toEqual(['failed', 'failed'])
  expect((await place.command('dag run own --task after')).code).toBe(0)
  expect(await nightsOf(place, 'own')).toEqual(['failed', 'failed', 'done'])
  expect((await place.command('status --all')).out).toMatch(/^1 connection: 1 well$/m)
  // The night is whole already.
  expect((await place.command('dag run own --task sync')).code).toBe(0)
  expect(await nightsOf(place, 'own')).toEqual(['failed', 'failed', 'done'])
  // All of a DAG, whatever it is called.
  write(place, 'one', '\n  sync: { run: sync, args: [key, --quiet] }')
  expect((await place.command('dag run one --task sync')).code).toBe(0)
  expect(await nightsOf(place, 'one')).toEqual(['done'])
})

test('a DAG run of another scheduler is recorded by the results of its tasks', async () => {
  const place = await openPlace({ records: {} })
  write(place, 'own', tasks)
  expect((await place.command('sync key --quiet')).code).toBe(0)
  const record = async (told: unknown) => {
    writeFileSync(join(place.cwd, 'told.json'), JSON.stringify(told))
    return place.command('dag record own told.json --json')
  }
  const done = ['sync', 'publish', 'after', 'beside'].map(task => ({ task, exitCode: 0 }))
  const cases: readonly (readonly [told: object, state: string, reason: string | null])[] = [
    [{ tasks: done }, 'done', null],
    [{ tasks: [{ task: 'sync', exitCode: 75, error: 'spent' }, ...done.slice(1)] }, 'later', 'sync: spent'],
    [{ tasks: done.slice(0, 2) }, 'failed', 'after: it did not finish; beside: it did not finish'],
    [
      { tasks: [{ task: 'sync', exitCode: 1 }, ...done.slice(3)] },
      'failed',
      'sync: it ended with exit code 1',
    ],
  ]
  for (const [told, state, reason] of cases) {
    const { code, out } = await record(told)
    expect([code, JSON.parse(out)]).toEqual([0, { dag: 'own', state, reason }])
  }
  expect(await nightsOf(place, 'own')).toEqual(cases.map(([, state]) => state))
  const { out } = await place.command(
    `sql --json select state, count(*) as n from ops.dag_task where dag = 'own' group by state order by state`,
  )
  expect(JSON.parse(out)).toEqual([
    { state: 'done', n: 10 },
    { state: 'failed', n: 3 },
    { state: 'later', n: 1 },
    { state: 'skipped', n: 2 },
  ])
  // What our own runner prints is taken as it is.
  const ran = await place.command('dag run own --json')
  expect((await record(JSON.parse(ran.out))).out).toContain('"state": "done"')
  for (const [told, said] of [
    [{ tasks: [{ task: 'snyc', exitCode: 0 }] }, 'own has no task snyc, did you mean sync?'],
    [{ tasks: [{ task: 'sync' }] }, 'task sync has neither state nor exitCode'],
    [{ dag: 'other', tasks: done }, 'these are outcomes of other, not of own'],
    [[1], 'these are not task outcomes'],
  ] as const) {
    const { code, err } = await record(told)
    expect([code, err]).toEqual([2, expect.stringContaining(said)])
  }
})

test('a DAG run whose tasks need no key is recorded without one', async () => {
  const place = await openPlace({ records: {} })
  write(place, 'own', '\n  list: { run: runs }')
  expect((await place.command('sync key --quiet')).code).toBe(0)
  const keyless = { MUSTER_API_KEY: '', MUSTER_BASE_URL: '' }
  expect((await place.command('dag run own', keyless)).code).toBe(0)
  writeFileSync(join(place.cwd, 'ended.json'), '{"tasks": [{"task": "list", "exitCode": 0}]}')
  expect(await place.command('dag record own ended.json', keyless)).toMatchObject({ code: 0, err: '' })
  expect(await nightsOf(place, 'own')).toEqual(['done', 'done'])
})
