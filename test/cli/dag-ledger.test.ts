/** `muster dag run` over a real warehouse: what became of each task is kept in ops.dag_task. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPlace } from './synced-warehouse.ts'

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
