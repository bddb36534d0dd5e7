/** The demo: what the README promises of it, at a fraction of its size. */
import { expect, test } from 'vitest'
import { muster } from './captured-world.ts'

test('syncs, changes the source, syncs what changed, and then nothing', async () => {
  const { code, out, err, cwd } = await muster('demo --scale 0.03 --changes 40 --quiet')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/First sync, of everything:/)
  expect(out).toMatch(
    /The source changes: \d+ records, of which \d+ are in no list: a sync reads them after an event, or when their turn comes\./,
  )
  expect(out).toMatch(/service counted/)
  expect(out).toMatch(/A third sync, with nothing new: 0 changed/)
  expect(out).toMatch(/\n\d+ marts built and checked in [\d.]+ s\n/)
  expect(out).toMatch(/mart\.labour_spend_weekly\):\nagency +timesheets +hours +cost +an hour +margin\n-/)
  expect(out).toMatch(/mart\.worker_week\):\naverage over 17 weeks .*\n-.*\n(below|44|above)/)
  expect(out).toMatch(/--config data\/demo\/muster.yaml status/)
  const status = await muster('status --config data/demo/muster.yaml --json', { cwd })
  expect(status.code).toBe(0)
})
