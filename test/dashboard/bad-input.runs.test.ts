/** What a reader is told when the dashboard cannot answer: one sentence, and what to do. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dashboardSource } from '../../src/app/connection/dashboard-source.ts'
import type { StoredConnection } from '../../src/config/connection.ts'
import type { PageAnswer } from '../../src/dashboard/answers.ts'
import { pages } from '../../src/dashboard/pages/pages.ts'
import { serveMarts } from '../../src/dashboard/server.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Busy } from '../../src/lib/errors.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openDuckdb } from '../../src/warehouse/on-demand.ts'
import { holdFile } from '../cli/locked-file.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'
import { type Served, serveDashboard } from './served.ts'

const folder = temporaryFolder()
let engine: Engine
let served: Served

beforeAll(async () => {
  engine = await openDuckdb(join(folder, 'older.duckdb'))
  await engine.run('create schema mart')
  // As an older release may have built it.
  await engine.run(
    `create table mart.labour_spend_weekly as select 'c1' as company_id, date '2026-11-01' as week_ending_date`,
  )
  served = await serveDashboard(engine)
})
afterAll(async () => {
  await served?.close()
  await engine?.close()
})

const failuresOf = async (page: string): Promise<(string | null)[]> => {
  const { panels } = (await (await served.get(`/api/pages/${page}`)).json()) as PageAnswer
  return panels.map(({ failure }) => failure)
}

test.each(pages.map(({ id }) => id))(
  'every panel of %s without its mart says to build the marts',
  async id => {
    for (const failure of await failuresOf(id)) expect(failure).toMatch(/run muster build/i)
  },
)

test('a panel whose mart has another structure says so, and what to run', async () => {
  expect(await failuresOf('cost')).toContain(
    'mart.labour_spend_weekly has other columns than this release reads: run muster build.',
  )
})

describe('the dashboard says in one line', () => {
  test.each([
    ['--page nothing', /^muster: there is no page nothing: .*overview/],
    ['--out r.html --compare', /^muster: --compare needs a first day: add --from/],
    ['--from 2026-06-02 --to 2026-06-01', /^muster: the last day is before the first/],
  ])('what is wrong with %s', async (options, line) => {
    const { code, err } = await muster(`dashboard ${options}`, { cwd: folder })
    expect(err).toMatch(line)
    expect([code, err.trimEnd().split('\n').length]).toEqual([2, 1])
  })

  const options = { host: '127.0.0.1', port: 0, allowedHosts: [] }

  test('that its port is in use, and how to choose another', async () => {
    const { port } = new URL(served.url)
    const source = { open: async () => engine, stamp: () => '' }
    const second = serveMarts(
      { source, clock: systemClock, isReadFirst: false },
      { ...options, port: Number(port) },
    )
    await expect(second).rejects.toBeInstanceOf(Busy)
    await expect(second).rejects.toThrow(
      /^port \d+ is in use by another process .*choose another with --port/,
    )
  })

  test('that another process holds the published copy, and what to do there', async () => {
    const file = join(folder, 'w.duckdb')
    const copy = await openDuckdb(join(folder, 'w.published.duckdb'))
    await copy.close()
    await holdFile(join(folder, 'w.published.duckdb'))
    await expect(
      serveMarts(
        {
          source: dashboardSource({ warehouse: { kind: 'file', file } } as StoredConnection),
          clock: systemClock,
          isReadFirst: true,
        },
        options,
      ),
    ).rejects.toThrow(/^another process has the published copy open for writing .*open it read-only/)
  })
})
