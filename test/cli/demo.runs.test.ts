/** The demo: what the README promises of it, at a fraction of its size. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { muster } from '../support/captured-world.ts'

test('plans, syncs, changes the source, syncs what changed, and builds the marts', async () => {
  const { code, out, err, cwd } = await muster('demo --scale 0.03 --changes 40 --today 2028-02-29 --quiet')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const [, planned] = /First sync, of everything, planned with about (\d+) requests:/.exec(out) ?? []
  const [, asked] = /; (\d+) requests, /.exec(out) ?? []
  expect(Math.abs(Number(planned) - Number(asked))).toBeLessThan(0.2 * Number(asked))
  expect(out).toMatch(
    /The source changes: \d+ records, of which \d+ are in no list: a sync reads them after an event, or when their turn comes\./,
  )
  expect(out).toMatch(/service counted/)
  expect(out).toMatch(/\n\d+ marts built and checked in [\d.]+ s\n/)
  expect(out).toMatch(/mart\.labour_spend_weekly\):\nagency +timesheets +hours +cost +an hour +margin\n-/)
  expect(out).toMatch(/mart\.worker_week\):\naverage over 17 weeks .*\n-.*\n(below|44|above)/)
  expect(out).toMatch(/--config data\/demo\/muster.yaml status/)
  expect(out).toMatch(
    /The report: data\/demo\/report\.html\nThe dashboard, once it runs: http:\/\/127\.0\.0\.1:8090\/\n$/,
  )
  const report = readFileSync(join(cwd, 'data/demo/report.html'), 'utf8')
  expect(report).toMatch(/^<!doctype html>/i)
  expect(JSON.parse(/id="report">(.*?)<\/script>/s.exec(report)?.[1] ?? '').pages.length).toBeGreaterThan(4)
  const status = await muster('status --config data/demo/muster.yaml --json', { cwd })
  expect(status.code).toBe(0)
  const newest = await muster(
    'sql --config data/demo/muster.yaml --csv select max(created_at)::date from star.fact_timesheet',
    { cwd },
  )
  const age = Date.parse('2028-02-29') - Date.parse(newest.out.split('\n')[1] ?? '')
  // The business goes on until yesterday; the weekend has no timesheets.
  expect(age / 86_400_000).toBeLessThan(10)
})
