/** Candidates by hand: how far they came, and how long they stood at each stage. */
import { describe, expect, test } from 'vitest'
import { buildAt, put, useHandMade } from './hand-made.ts'
import { type Candidate, recruit } from './recruit.ts'

const made = useHandMade()
const rows = (sql: string) => made().rows<Record<string, unknown>>(sql)

describe('mart.requisition_funnel', () => {
  const funnel = `submitted as s, cv_reviewed as c, interviewed as i, offer_made as o, offer_accepted as a, assigned as d`

  test('who came far also counts before, whatever was skipped', async () => {
    await recruit(made(), [
      { id: 'skipped', stages: ['submitted', 'offerMade'] },
      {
        id: 'whole',
        stages: [
          'submitted',
          'cvReviewed',
          'interviewRequested',
          'interviewed',
          'offerMade',
          'offerAccepted',
          'assigned',
        ],
      },
      { id: 'declined', stages: ['submitted', 'cvReviewed', 'offerRejected'] },
      { id: 'papers', stages: ['submitted', 'interviewed', 'offerAccepted', 'missingCompliance'] },
      { id: 'unknown', stages: ['submitted', 'somethingNew'] },
      { id: 'rejected', stages: ['submitted', 'cvReviewed', 'interviewRequested'], rejected: true },
    ])
    await buildAt(made(), 'requisition_funnel')
    expect(await rows(`select ${funnel} from mart.requisition_funnel`)).toEqual([
      { s: 6, c: 5, i: 4, o: 4, a: 2, d: 1 },
    ])
    expect(
      await rows(`select offered, filled, submissions, rejected, offers_rejected as declined, missing_compliance as papers,
        dropped_at_stage as dropped, dropped_at_step as step, reviewed_ratio as reviewed, submitted_to_assigned_ratio as whole from mart.requisition_funnel`),
    ).toEqual([
      {
        offered: 3,
        filled: 2,
        submissions: 6,
        rejected: 1,
        declined: 1,
        papers: 1,
        dropped: 'interviewRequested',
        step: 'cvReviewed',
        reviewed: 5 / 6,
        whole: 1 / 6,
      },
    ])
  })

  test('without tracking there are submissions and no ratios; one agency more has a row more', async () => {
    await recruit(made(), [])
    await put(made(), 'fact_submission', [
      { submission_key: 'x', requisition_id: 'r', agency_id: 'a', worker_id: 'w' },
      { submission_key: 'y', requisition_id: 'r', agency_id: 'b', worker_id: 'w' },
    ])
    await buildAt(made(), 'requisition_funnel')
    expect(
      await rows(`select agency_id as agency, offered, submissions, submitted, reviewed_ratio as ratio, dropped_at_stage as dropped
        from mart.requisition_funnel order by 1`),
    ).toEqual([
      { agency: 'a', offered: 3, submissions: 1, submitted: 0, ratio: null, dropped: null },
      { agency: 'b', offered: 0, submissions: 1, submitted: 0, ratio: null, dropped: null },
    ])
  })
})

describe('mart.stage_duration', () => {
  const figures = `entries, exits, open_now as open, ended_here as ended, measured_exits as measured,
    avg_days as average, cast(median_days as double) as median, cast(p90_days as double) as p90`
  const submitted = async () =>
    (await rows(`select ${figures} from mart.stage_duration where stage = 'submitted'`))[0]
  const staying = (...days: readonly number[]): Candidate[] =>
    days.map((one, index) => ({ id: `w${index}`, stages: ['submitted', 'cvReviewed'], days: [one] }))
  const counted = { open: 0, ended: 0 }

  test.each([
    ['one', [2.5], { average: 2.5, median: 2.5, p90: 2.5 }],
    ['two', [1, 2], { average: 1.5, median: 1.5, p90: 1.9 }],
    ['four, in no order', [4, 1, 3, 2], { average: 2.5, median: 2.5, p90: 3.7 }],
    ['equal ones', [3, 3, 3], { average: 3, median: 3, p90: 3 }],
    ['one far from the others', [1, 1, 1, 1, 101], { average: 21, median: 1, p90: 61 }],
    ['none', [0, 0], { average: 0, median: 0, p90: 0 }],
  ])('days of %s', async (_, days, expected) => {
    await recruit(made(), staying(...days))
    await buildAt(made(), 'stage_duration')
    const n = days.length
    expect(await submitted()).toEqual({ entries: n, exits: n, measured: n, ...counted, ...expected })
  })

  test('steps follow each other by their dates, whatever the order of the list', async () => {
    const stages = ['submitted', 'cvReviewed', 'interviewed']
    await recruit(made(), [{ id: 'w', stages, days: [2, 5], isNewestFirst: true }])
    await buildAt(made(), 'stage_duration')
    const one = { ...counted, entries: 1 }
    expect(
      await rows(`select stage, entries, exits, open_now as open, ended_here as ended, avg_days as average
        from mart.stage_duration order by stage`),
    ).toEqual([
      { stage: 'cvReviewed', ...one, exits: 1, average: 5 },
      { stage: 'interviewed', ...one, exits: 0, open: 1, average: null },
      { stage: 'submitted', ...one, exits: 1, average: 2 },
    ])
  })

  test('a step without a date is no entry: one between others changes nothing, behind the last one it is where they went', async () => {
    await recruit(made(), [
      { id: 'between', stages: ['submitted', 'interviewRequested', 'interviewed'], undated: 1, days: [2, 2] },
      { id: 'behind', stages: ['submitted', 'interviewRequested'], undated: 1 },
    ])
    await buildAt(made(), 'stage_duration')
    expect(
      await rows(`select stage, entries, exits, open_now as open, measured_exits as measured, avg_days as average
        from mart.stage_duration order by stage`),
    ).toEqual([
      { stage: 'interviewed', entries: 1, exits: 0, open: 1, measured: 0, average: null },
      { stage: 'submitted', entries: 2, exits: 2, open: 0, measured: 1, average: 4 },
    ])
  })

  test('who stands there is open unless it is the end, of the worker or of the requisition', async () => {
    await recruit(made(), [
      { id: 'waits', stages: ['submitted'] },
      { id: 'rejected', stages: ['submitted'], rejected: true },
      { id: 'assigned', stages: ['submitted', 'assigned'] },
    ])
    await buildAt(made(), 'stage_duration')
    const open = `select stage, entries, exits, open_now as open, ended_here as ended from mart.stage_duration order by stage`
    expect(await rows(open)).toEqual([
      { stage: 'assigned', entries: 1, exits: 0, open: 0, ended: 1 },
      { stage: 'submitted', entries: 3, exits: 1, open: 1, ended: 1 },
    ])
    await made().run(`update star.fact_requisition set status = 'filled'`)
    await buildAt(made(), 'stage_duration')
    expect(await rows(open)).toMatchObject([{ open: 0 }, { open: 0, ended: 2 }])
  })
})
