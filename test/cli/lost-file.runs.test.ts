/** A warehouse file that is not there: who makes one, who does not, and how the landed pages bring a lost one back. */
import { existsSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openPlace } from '../support/synced-warehouse.ts'

test('a lost file is made of its pages, and nothing is made of nothing', async () => {
  const { command, file } = await openPlace()
  const sites = async () => (await command('sql --json from star.dim_site order by site_id')).out
  expect(await command('replay --quiet')).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /^muster: there are no landed pages, and no warehouse either \(.*w\.landing\): run/,
    ),
  })
  expect(await command('crosscheck')).toMatchObject({
    code: 1,
    err: `muster: there is no warehouse file (${file}): run muster sync first\n`,
  })
  expect(existsSync(file)).toBe(false)

  expect((await command('sync sites --quiet')).code).toBe(0)
  const held = JSON.parse(await sites())
  expect(held.length).toBeGreaterThan(1)
  rmSync(file)
  expect(await command('replay --quiet')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^rebuilt from 1 scan: /),
  })
  expect(JSON.parse(await sites())).toEqual(held)
})
