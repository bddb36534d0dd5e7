/** `muster build` as people and programs see it. */
import { expect, test } from 'vitest'
import { openPlace } from '../support/synced-warehouse.ts'

test('build makes what changed, says so, and has nothing to do the second time', async () => {
  const { command } = await openPlace()
  expect(await command('build')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/there is no warehouse file .*run muster sync first/),
  })
  expect((await command('sync --quiet')).code).toBe(0)
  const first = await command('build --quiet')
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out).toMatch(/worker_week +built +\d+/)
  expect(first.out).toMatch(/\d+ built, [\d,]+ rows, 0 unchanged, as of 2026-11-02T\S+; /)
  expect((await command('build --quiet')).out).toMatch(/^nothing changed: \d+ marts are up to date, as of /)
  const { out } = await command('build mart.worker_week --all --json --quiet')
  expect(JSON.parse(out).marts).toMatchObject([{ name: 'worker_week', state: 'built' }])
  expect(await command('build worker_weak')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/there is no mart worker_weak: did you mean worker_week\?/),
  })
  const rows = await command('sql --json select count(*) as n from mart.worker_week')
  expect(JSON.parse(rows.out)[0].n).toBeGreaterThan(0)
})
