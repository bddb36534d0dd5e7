/** The timesheets behind a difference in hours: what the service lists beside what is stored. */
import { describe, expect, test } from 'vitest'
import { explainHours } from '../../../src/crosscheck/explain/explain-hours.ts'
import { listedSheet, type SheetQuery, type StoredSheet } from '../../../src/crosscheck/explain/sheets.ts'
import type { ExplanationContext } from '../../../src/crosscheck/explain/stored-records.ts'
import { define, sheet } from '../hours-cases.ts'
import { explaining, service } from './explaining.ts'

const cell = { keys: { project: 'p1', week: '2026-05-04' }, ours: undefined, theirs: undefined }
type Row = Record<string, unknown>

const listed = (id: string, more: object = {}): Row =>
  sheet(id, { project: { id: 'p1', name: 'Bridge' }, ...more })
const stored = (id: string, more: Partial<StoredSheet> = {}): StoredSheet => ({
  ...listedSheet(listed(id), define({})),
  ...{ isDeleted: false, copies: 1 },
  ...more,
})

interface Setup {
  readonly here?: readonly StoredSheet[]
  /** What the list of the place shows, and what a search by reference does. */
  readonly there?: readonly Row[]
  readonly elsewhere?: readonly Row[]
  readonly quarantined?: readonly string[]
  readonly parts?: Partial<ExplanationContext>
  readonly limit?: number
  readonly rowsPerPage?: number
  /** Projects of the cells that differ. */
  readonly projects?: readonly string[]
}

async function explained({
  here = [],
  there = [],
  elsewhere = [],
  quarantined = [],
  parts,
  projects = ['p1'],
  ...limits
}: Setup) {
  const looks: SheetQuery[] = []
  const isIn = (row: Row, project: string | undefined) =>
    projects.length === 1 || (row.project as { id: string }).id === project
  const asker = service({
    list: (_, { query, project }) =>
      query === undefined ? there.filter(row => isIn(row, project)) : elsewhere,
    ...limits,
  })
  const byId = (ids: readonly string[]) =>
    new Map(here.filter(({ id }) => ids.includes(id)).map(one => [one.id, one]))
  const found = await explainHours(
    explaining(
      {
        async sheetsIn(look) {
          looks.push(look)
          const { project = 'p1' } = look
          return new Map(
            here.filter(one => !one.isDeleted && one.project === project).map(one => [one.id, one]),
          )
        },
        // More than two pages together, so that each project is read by itself.
        countSheets: async ({ project }) => (project === undefined ? 401 : 1),
        sheetsById: async ids => byId(ids),
        quarantinedSheets: async () => new Set(quarantined),
      },
      { asker, watermark: '2026-06-01T00:00:00.000Z', ...parts },
    ),
    projects.map(project => ({ ...cell, keys: { ...cell.keys, project } })),
  )
  return { ...found, asker, looks, words: found.findings.map(({ kind, sentence }) => `${kind}: ${sentence}`) }
}

test('nothing is found where the versions are the same, or count nowhere', async () => {
  expect((await explained({ here: [stored('t1')], there: [listed('t1')] })).words).toEqual([])
  const pending = { here: [stored('t1', { status: 'pending' })], there: [listed('t1', { status: 'absent' })] }
  expect((await explained(pending)).words).toEqual([])
  expect((await explained({ there: [listed('t1', { status: 'absent' })] })).words).toEqual([])
})

test('a list is read of the place and a week with three days more, by the week ending', async () => {
  const { asker, looks } = await explained({ here: [stored('t1')], there: [listed('t1')] })
  expect(asker.lists).toEqual([
    {
      path: '/timesheets',
      query: {
        fields: expect.stringContaining('netHours'),
        ...{ project: 'p1', dateField: 'weekEnding', from: '2026-05-01', to: '2026-05-14' },
      },
    },
  ])
  // A day less: what a range of days contains is the service's choice.
  expect(looks).toEqual([{ project: 'p1', from: '2026-05-02', to: '2026-05-13' }])
})

test('a list has timelogs where these count', async () => {
  const { asker } = await explained({ parts: { definition: define({ hoursField: 'timelogHours' }) } })
  expect(asker.lists[0]?.query).toMatchObject({
    includeTimelogs: 'true',
    fields: expect.stringContaining('timelogs'),
  })
  expect((await explained({})).asker.lists[0]?.query).not.toHaveProperty('includeTimelogs')
})

describe('a timesheet that differs', () => {
  const later = '2026-06-02T00:00:00.000Z'
  const changed = (updatedAt: string) => ({
    here: [stored('t1')],
    there: [listed('t1', { netHours: 41, updatedAt })],
  })

  test('in the same version differs, and is read again', async () => {
    const { findings, words } = await explained(changed('2026-01-02T00:00:00.000Z'))
    expect(words).toEqual(['differs: timesheet TS-t1: hours 40 here, 41 there, in the same version'])
    const keys = { company: 'c1', project: 'p1', agency: 'a1', month: '2026-05', week: '2026-05-04' }
    expect(findings).toEqual([
      {
        ...{ metric: 'workersOverHours', kind: 'differs', record: 'TS-t1', sentence: expect.any(String) },
        ...{
          ours: [{ keys, amount: 40 }],
          theirs: [{ keys, amount: 41 }],
          changedAt: '2026-01-02T00:00:00.000Z',
        },
        loss: {
          ...{ resource: 'timesheets', id: 't1' },
          ...{ createdAt: '2026-01-02T00:00:00.000Z', updatedAt: '2026-01-02T00:00:00.000Z' },
        },
      },
    ])
  })

  test('in a later version that a sync should have read is a change that was never fetched', async () => {
    const at = '2026-06-01T00:00:00.000Z'
    const { words, findings } = await explained(changed(at))
    expect(words).toEqual([
      'differs: timesheet TS-t1: hours 40 here, 41 there, a change that was never fetched',
    ])
    expect(findings[0]?.loss).toBeDefined()
  })

  test('in a version later than what was read is newer', async () => {
    const { words, findings } = await explained(changed('2026-06-01T00:00:00.001Z'))
    expect(words).toEqual(['newer: timesheet TS-t1: hours 40 here, 41 there, changed since it was read'])
    expect(findings[0]).not.toHaveProperty('loss')
  })

  test('and counts on one side only is named', async () => {
    const absent = { here: [stored('t1')], there: [listed('t1', { status: 'absent' })] }
    const counted = { here: [stored('t1', { status: 'absent' })], there: [listed('t1')] }
    expect((await explained(absent)).words).toEqual([
      'differs: timesheet TS-t1: status approved here, absent there, in the same version',
    ])
    expect((await explained(counted)).words).toEqual([
      'differs: timesheet TS-t1: status absent here, approved there, in the same version',
    ])
  })

  test('in a version that is stored cannot be newer, whatever the watermark', async () => {
    const here = [stored('t1', { updatedAt: later })]
    const { words } = await explained({ here, there: [listed('t1', { netHours: 41, updatedAt: later })] })
    expect(words).toEqual(['differs: timesheet TS-t1: hours 40 here, 41 there, in the same version'])
  })

  test('is newer before the first sync', async () => {
    const setup = { ...changed(later), parts: { watermark: undefined } }
    expect((await explained(setup)).words[0]).toMatch(/^newer: /)
    const timeless = {
      here: [stored('t1', { updatedAt: null })],
      there: [listed('t1', { netHours: 41, updatedAt: later })],
    }
    expect((await explained(timeless)).words[0]).toMatch(/^newer: /)
  })

  test('without a time of its own is not newer', async () => {
    expect(
      (await explained({ here: [stored('t1')], there: [listed('t1', { netHours: 41, updatedAt: null })] }))
        .words[0],
    ).toMatch(/^differs: .*in the same version$/)
  })

  test('in quarantine says so', async () => {
    expect((await explained({ ...changed(later), quarantined: ['t1'] })).words).toEqual([
      'quarantined: timesheet TS-t1: it is in quarantine',
    ])
  })

  test('and is stored twice counts twice, and reading it again would not help', async () => {
    const { words, findings } = await explained({
      here: [stored('t1', { copies: 2 })],
      there: [listed('t1')],
    })
    expect(words).toEqual(['differs: timesheet TS-t1: it is stored 2 times: run muster replay'])
    expect(findings[0]?.ours).toHaveLength(2)
    expect(findings[0]).not.toHaveProperty('loss')
  })

  test('and is marked as deleted here is lost, and counts nothing here', async () => {
    const { words, findings } = await explained({
      here: [stored('t1', { isDeleted: true })],
      there: [listed('t1')],
    })
    expect(words).toEqual(['lost: timesheet TS-t1: marked as deleted here, but the service lists it'])
    expect([findings[0]?.ours, findings[0]?.loss?.id]).toEqual([[], 't1'])
  })

  test('goes by its id where it has no reference', async () => {
    const { findings } = await explained({
      here: [stored('t1')],
      there: [listed('t1', { netHours: 41, reference: null })],
    })
    expect(findings[0]?.record).toBe('t1')
  })
})

describe('a timesheet that is not stored', () => {
  test('and is older than what was read is lost, and read again', async () => {
    const { words, findings } = await explained({ there: [listed('t1')] })
    expect(words).toEqual(['lost: timesheet TS-t1: not stored, although older than the watermark'])
    expect(findings[0]?.loss?.id).toBe('t1')
  })

  test('and is newer than the watermark is brought by a sync', async () => {
    const there = [listed('t1', { updatedAt: '2026-06-02T00:00:00.000Z' })]
    expect((await explained({ there })).words).toEqual(['newer: timesheet TS-t1: newer than the watermark'])
  })
})

describe('a timesheet that the service does not list', () => {
  test('nor finds by its reference is deleted', async () => {
    const { words, findings, asker } = await explained({ here: [stored('t1')] })
    expect(words).toEqual(['deleted: timesheet TS-t1: the service no longer lists it'])
    expect(findings[0]).toMatchObject({ ours: [{ amount: 40 }], theirs: [] })
    expect(findings[0]).not.toHaveProperty('loss')
    expect(asker.lists[1]?.query).toMatchObject({ query: 'TS-t1', fields: expect.any(String) })
  })

  test('there, and elsewhere, has moved', async () => {
    const elsewhere = [listed('t11'), listed('t1', { project: { id: 'p2', name: 'Tunnel' } })]
    expect((await explained({ here: [stored('t1')], elsewhere })).words).toEqual([
      'differs: timesheet TS-t1: project p1 here, p2 there, in the same version',
    ])
  })

  test('and that cannot be searched for is left open', async () => {
    expect((await explained({ here: [stored('t1', { reference: null })] })).words).toEqual([])
  })

  test('on three pages of a search is left open, for there may be more', async () => {
    const elsewhere = ['t11', 't12', 't13', 't14'].map(id => listed(id))
    const setup = { here: [stored('t1')], elsewhere }
    expect((await explained({ ...setup, rowsPerPage: 1 })).words).toEqual([])
    expect(
      (await explained({ ...setup, elsewhere: elsewhere.slice(0, 3), rowsPerPage: 1 })).words[0],
    ).toMatch(/^deleted/)
  })

  test('is not searched for when another place lists it, nor called deleted', async () => {
    const { asker, words } = await explained({
      here: [stored('t1')],
      there: [listed('t1', { project: { id: 'p2', name: 'Tunnel' } })],
      projects: ['p1', 'p2'],
    })
    expect(asker.lists.map(({ query }) => query.project)).toEqual(['p1', 'p2'])
    expect(words).toEqual(['differs: timesheet TS-t1: project p1 here, p2 there, in the same version'])
  })
})

describe('when requests are used up', () => {
  test('the rest of a list is left open, and what is not on it is not called deleted', async () => {
    const there = ['t1', 't2', 't3'].map(id => listed(id))
    const found = await explained({ here: [stored('t9')], there, rowsPerPage: 1, limit: 2 })
    expect(found.words).toEqual(
      ['t1', 't2'].map(id => `lost: timesheet TS-${id}: not stored, although older than the watermark`),
    )
    expect(found.isComplete).toBe(false)
  })

  test('the rest of a list is missed, also where nothing of it is stored', async () => {
    const there = ['t1', 't2'].map(id => listed(id))
    expect((await explained({ there, rowsPerPage: 1, limit: 1 })).isComplete).toBe(false)
  })

  test('before a search, nothing is called deleted', async () => {
    const found = await explained({ here: [stored('t1')], limit: 1 })
    expect([found.words, found.isComplete]).toEqual([[], false])
    expect((await explained({ here: [stored('t1')], limit: 2 })).isComplete).toBe(true)
  })

  test('any other error ends the search', async () => {
    const list = () => {
      throw new Error('refused')
    }
    await expect(explainHours(explaining({}, { asker: service({ list }) }), [cell])).rejects.toEqual(
      new Error('refused'),
    )
  })
})
