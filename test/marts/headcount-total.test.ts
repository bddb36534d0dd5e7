/** People by week, each counted once in each grouping, by hand. */
import { expect, test } from 'vitest'
import { buildAt, put, useHandMade } from './hand-made.ts'

const made = useHandMade()

/** A confirmed assignment of a worker, from October to December. */
const assignmentOf = (id: string, worker: string, [company, project, agency]: readonly string[]) => ({
  assignment_id: id,
  status: 'confirmed',
  worker_id: worker,
  company_id: company ?? null,
  project_id: project ?? null,
  agency_id: agency ?? null,
  trade_id: 't',
  start_date: '2026-10-20',
  end_date: '2026-12-24',
})

/** A timesheet of 20 hours whose week is that to Sunday 25 October. */
const approvedTimesheet = (id: string, worker: string, company: string) => ({
  timesheet_id: id,
  status: 'approved',
  worker_id: worker,
  company_id: company,
  project_id: 'p',
  agency_id: 'a',
  // A Friday: most of its days are in the week to Sunday the 25th.
  week_ending_date: '2026-10-23',
  net_hours: 20,
})

/** A confirmed assignment of Ann to a project, between two dates. */
const assignmentOfAnn = (id: string, from: string, until: string) => ({
  assignment_id: id,
  status: 'confirmed',
  worker_id: 'ann',
  company_id: 'c',
  project_id: id,
  agency_id: 'a',
  trade_id: 't',
  start_date: from,
  end_date: until,
})

test('a worker of two companies, three projects and two agencies is one person in each group and over all', async () => {
  await put(made(), 'fact_assignment', [
    assignmentOf('1', 'ann', ['c', 'p', 'a']),
    assignmentOf('2', 'ann', ['c', 'q', 'a']),
    assignmentOf('3', 'ann', ['d', 'r', 'b']),
    assignmentOf('4', 'bob', ['d', 'r', 'b']),
    assignmentOf('5', '-1', ['d', 'r', 'b']),
  ])
  await put(made(), 'fact_timesheet', [
    approvedTimesheet('1', 'ann', 'c'),
    approvedTimesheet('2', 'ann', 'd'),
    approvedTimesheet('3', '-1', 'd'),
  ])
  await buildAt(made(), 'headcount_total', '2026-10-26')
  const rows = await made().rows<Record<string, unknown>>(
    `select group_by, group_key, workers, opening_workers as opening, starters, closing_workers as closing,
       worked_headcount as worked, cast(net_hours as double) as hours
     from mart.headcount_total where week_ending_date = '2026-10-25' order by 1, 2`,
  )
  const shown = rows.map(({ group_by, group_key, workers, worked, hours }) =>
    [group_by, group_key, workers, worked, hours].join(' '),
  )
  expect(shown).toEqual([
    'agency a 1 1 60',
    'agency b 2 0 0',
    'all  2 1 60',
    'company c 1 1 20',
    'company d 2 1 40',
    'project p 1 1 60',
    'project q 1 0 0',
    'project r 2 0 0',
    'trade -1 0 1 60',
    'trade t 2 0 0',
  ])
  expect(rows.find(row => row.group_by === 'all')).toMatchObject({ opening: 0, starters: 2, closing: 2 })
})

test('a move between projects is neither a start nor a leave over all', async () => {
  await put(made(), 'fact_assignment', [
    assignmentOfAnn('p', '2026-10-01', '2026-10-21'),
    assignmentOfAnn('q', '2026-10-22', '2026-11-30'),
  ])
  await buildAt(made(), 'headcount_total', '2026-10-26')
  expect(
    await made().rows(`select group_by || group_key as who, starters, leavers from mart.headcount_total
      where week_ending_date = '2026-10-25' and group_by in ('all', 'project') order by 1`),
  ).toEqual([
    { who: 'all', starters: 0, leavers: 0 },
    { who: 'projectp', starters: 0, leavers: 1 },
    { who: 'projectq', starters: 1, leavers: 0 },
  ])
})
