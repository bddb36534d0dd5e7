/** What goes to quarantine of a record that was left out of its batch. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { PageTrouble } from '../../../src/load/read/page-repair.ts'
import type { PageFile } from '../../../src/load/read/pages.ts'
import { leftOutRows } from '../../../src/load/read/quarantine.ts'
import { rulesStage } from '../rules-stage.ts'
import { cask, casks } from './casks.ts'

const stage = rulesStage()

/** The rows of what is refused on these pages. */
const refused = async (pages: readonly PageFile[]) => {
  const { trouble } = await stage.stage(casks, pages)
  return trouble.flatMap(one => leftOutRows('casks', one))
}

const never = (key: string, parts: object = {}) => cask({ id: key, updatedAt: 'never', ...parts })

describe('a record with refused values', () => {
  test('has a row per value, with its JSON as it was received, its page and its run', async () => {
    const record = `{"id":"b", "updatedAt":"never","createdAt":"7","name":"${'x'.repeat(100)}","other":1.2345678901234567890123}`
    const first = stage.page(`{"data":[{"id":"a"},${record}]}`, {
      runId: 'run-7',
      fetchedAt: '2026-05-03T00:00:00.000Z',
    })
    const rows = await refused([stage.pageOf([cask()]), first, stage.pageOf([never('c')])])
    const row = {
      ...{
        quarantine_id: expect.stringMatching(/^[0-9a-f]{32}$/),
        resource: 'casks',
        record_id: 'b',
        payload: record,
      },
      ...{ page: first.file.split('/').at(-1), run_id: 'run-7', seen_at: '2026-05-03T00:00:00.000Z' },
    }
    expect(rows).toMatchObject([
      { ...row, path: 'updatedAt', text: 'never', reason: 'not a date and time' },
      { ...row, path: 'createdAt', text: '7', reason: 'not a date and time' },
      { record_id: 'c', path: 'updatedAt', payload: JSON.stringify(never('c')), run_id: 'run-1' },
    ])
    expect(new Set(rows.map(({ quarantine_id: id }) => id)).size).toBe(3)
    expect(readdirSync(stage.folder).sort()).toEqual(['pages', 'stage'])
  })

  test('is found on the first and the last place of its page', async () => {
    const rows = await refused([
      stage.pageOf([never('a'), cask({ id: 'b' }), never('c')]),
      stage.pageOf([never('d')]),
    ])
    expect(rows.map(({ record_id: id, payload }) => [id, JSON.parse(payload).id])).toEqual([
      ['a', 'a'],
      ['c', 'c'],
      ['d', 'd'],
    ])
  })

  test('has no row where no value is refused', async () => {
    expect(await refused([stage.pageOf([cask()])])).toEqual([])
  })
})

describe('a record that was left out', () => {
  const page = {
    file: '/landing/page-1.json',
    bytes: 1,
    fetchedAt: '2026-05-03T00:00:00.000Z',
    runId: 'run-7',
    scope: {},
  }
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  const rows = (payload: string, ...faults: PageTrouble['faults']) =>
    leftOutRows('casks', { locator: 1, page, payload, faults })
  const whole = { path: '', text: null, reason: 'too odd' }
  const leaf = { path: 'updatedAt', text: 'never', reason: 'not a date and time' }

  test('has a row per fault, with its page and its run', () => {
    const payload = '{"id":"a"}'
    const row = {
      resource: 'casks',
      record_id: 'a',
      payload,
      page: 'page-1.json',
      run_id: 'run-7',
      seen_at: page.fetchedAt,
      resolved_at: null,
    }
    expect(rows(payload, leaf, whole)).toEqual([
      {
        ...row,
        ...leaf,
        quarantine_id: md5(JSON.stringify(['casks', 'a', 'updatedAt', 'never', 'not a date and time'])),
      },
      { ...row, ...whole, quarantine_id: md5(payload) },
    ])
  })

  test('is the same case for the same value of the same record, and for a complete record only with the same JSON', () => {
    const ids = (payload: string) => rows(payload, leaf, whole).map(row => row.quarantine_id)
    const [first, second, other] = [ids('{"id":"a"}'), ids('{"id":"a","name":"x"}'), ids('{"id":"b"}')]
    expect(first[0]).toBe(second[0])
    expect(first[1]).not.toBe(second[1])
    expect(first[0]).not.toBe(other[0])
  })

  test('without an id is identified by its JSON', () => {
    const ids = ['{"name":"x"}', '{"name":"y"}'].map(payload => rows(payload, leaf)[0])
    expect(ids.map(row => row?.record_id)).toEqual([null, null])
    expect(ids[0]?.quarantine_id).not.toBe(ids[1]?.quarantine_id)
    expect(ids[0]?.quarantine_id).toBe(
      md5(JSON.stringify(['casks', '{"name":"x"}', 'updatedAt', 'never', 'not a date and time'])),
    )
  })
})
