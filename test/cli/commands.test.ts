/** The commands that need no warehouse, run in a temporary folder. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadSettings } from '../../src/config/settings.ts'
import { captured, muster, temporaryFolder } from '../support/captured-world.ts'

describe('muster init', () => {
  test('writes a settings file that loads once its variable is set, and says what comes next', async () => {
    const { code, out, err, cwd } = await muster('init')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^Wrote config\/muster\.yaml\. Now:\n {2}1\. set ACME_API_KEY/)
    const settings = loadSettings({ env: { ACME_API_KEY: 'key' }, cwd })
    expect([...settings.connections.keys()]).toEqual(['acme'])
    expect(settings.warnings).toEqual([])
  })

  test('leaves a file that is there alone, unless forced', async () => {
    const cwd = temporaryFolder()
    const file = join(cwd, 'mine.yaml')
    writeFileSync(file, 'mine')
    const { code, err } = await muster('init --config mine.yaml', { cwd })
    expect([code, err]).toEqual([2, 'muster: mine.yaml exists already: add --force to replace it\n'])
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect((await muster('init --config mine.yaml --force', { cwd })).code).toBe(0)
    expect(readFileSync(file, 'utf8')).toContain('connections:')
  })

  test('--json prints one document', async () => {
    const { out, cwd } = await muster('init --json --config deep/er/x.yaml')
    expect(JSON.parse(out)).toMatchObject({ written: 'deep/er/x.yaml' })
    expect(existsSync(join(cwd, 'deep/er/x.yaml'))).toBe(true)
  })

  test('says so when the folder cannot be written', async () => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'config'), '')
    const { code, err } = await muster('init', { cwd })
    expect([code, err]).toEqual([
      1,
      'muster: config/muster.yaml cannot be written: check its folder and permissions\n',
    ])
  })
})

describe('muster sandbox', () => {
  test('serves the default key until it is interrupted', async () => {
    const stop = new AbortController()
    const { world, out } = captured({ signal: stop.signal })
    const ended = muster('sandbox --scale 0.01 --json', world)
    await expect.poll(out, { timeout: 20_000 }).toContain('}\n')
    const { url, keys, env } = JSON.parse(out())
    expect(env).toMatchObject({ MUSTER_BASE_URL: url, MUSTER_API_KEY: 'sandbox-company-key' })
    expect(keys.agency).toBe('sandbox-agency-key')
    const answer = await fetch(`${url}/me`, { headers: { authorization: `Bearer ${keys.company}` } })
    expect(answer.status).toBe(200)
    stop.abort()
    expect((await ended).code).toBe(0)
    await expect(fetch(`${url}/me`)).rejects.toThrow()
  })

  test('prints lines to paste', async () => {
    const { code, out } = await muster('sandbox --scale 0.01', { signal: AbortSignal.abort() })
    expect(code).toBe(0)
    expect(out).toMatch(/ {2}export MUSTER_BASE_URL=http:\/\/127\.0\.0\.1:\d+\/api\/open\/v1\n/)
    expect(out).toContain('export MUSTER_API_KEY=sandbox-company-key\n')
    expect(out).toMatch(/export MUSTER_WAREHOUSE=duckdb:\S+\n/)
  })
})

describe('muster sync', () => {
  test('says which resources it reads, and which are read by id', async () => {
    expect(await muster('sync timesheet')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^muster: there is no resource timesheet: did you mean timesheets\?/),
    })
    expect((await muster('sync xyz')).err).toMatch(
      /^muster: there is no resource xyz: name one of key, companies,/,
    )
    for (const line of ['backfill', 'plan backfill']) {
      const { code, err } = await muster(`${line} rates --from 2026-01-01 --to 2026-01-02`)
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(
          /^muster: rates are read by id, not by created day: muster sync rates reads them; the others are key, companies, .*metric-rows\n$/,
        ),
      ])
    }
  })
})
