/** Weeks of workers, by hand: the average over 17 weeks, and the 12 weeks of the Agency Workers Regulations. */
import { beforeEach, describe, expect, test } from 'vitest'
import { buildAt, day, put, useHandMade } from './hand-made.ts'

const made = useHandMade()
/** A Sunday. */
const first = '2026-01-04'

let sheets = 0

interface Sheet {
  readonly worker?: string
  readonly week: string
  readonly hours: number | null
  readonly more?: Readonly<Record<string, string | number | boolean>>
}

async function work(list: readonly Sheet[]): Promise<void> {
  const rows = list.map(({ worker = 'w', week, hours, more = {} }) => {
    sheets += 1
    return {
      timesheet_id: `t${sheets}`,
      status: 'approved',
      worker_id: worker,
      company_id: 'c',
      site_id: 's',
      agency_id: 'a',
      assignment_id: 'none',
      week_ending_date: week,
      net_hours: hours,
      ...more,
    }
  })
  await put(made(), 'fact_timesheet', rows)
}

/** Week after week from `first`, with these hours; null for a week without a timesheet. */
const weekly = (hours: readonly (number | null)[], more: Partial<Sheet> = {}): Sheet[] =>
  hours.flatMap((one, index) => (one === null ? [] : [{ week: day(first, 7 * index), hours: one, ...more }]))

describe('mart.worker_week', () => {
  const columns = `week_ending_date as week, cast(net_hours as double) as hours, weeks_averaged as n,
    cast(hours_17_weeks as double) as total, avg_17_week_hours as average, wtr_risk as risk`
  async function weeks(worker = 'w') {
    await buildAt(made(), 'worker_week')
    return made().rows(`select ${columns} from mart.worker_week where worker_id = $1 order by 1`, [worker])
  }

  test('the average is over the weeks there are, from the 17th week on over 17', async () => {
    await work(weekly([96, ...Array(17).fill(40)]))
    const rows = await weeks()
    expect(rows).toHaveLength(18)
    expect(rows[0]).toEqual({ week: first, hours: 96, n: 1, total: 96, average: 96, risk: 'above 48' })
    expect(rows[1]).toMatchObject({ n: 2, total: 136, average: 68 })
    expect(rows[15]).toMatchObject({ n: 16, total: 696, average: 43.5, risk: 'below 44' })
    expect(rows[16]).toMatchObject({ n: 17, total: 736, average: 736 / 17 })
    expect(rows[17]).toMatchObject({ n: 17, total: 680, average: 40 })
  })

  test('weeks without hours between the first and the last one are rows and count', async () => {
    await work(weekly([50, null, null, 30]))
    expect(await weeks()).toEqual([
      { week: first, hours: 50, n: 1, total: 50, average: 50, risk: 'above 48' },
      { week: day(first, 7), hours: 0, n: 2, total: 50, average: 25, risk: 'below 44' },
      { week: day(first, 14), hours: 0, n: 3, total: 50, average: 50 / 3, risk: 'below 44' },
      { week: day(first, 21), hours: 30, n: 4, total: 80, average: 20, risk: 'below 44' },
    ])
  })

  test('a gap longer than 17 weeks leaves zeros behind, and the last week alone', async () => {
    await work(weekly([60, ...Array(30).fill(null), 34]))
    const rows = await weeks()
    expect(rows).toHaveLength(32)
    expect(rows[17]).toMatchObject({ n: 17, total: 0, average: 0 })
    expect(rows[31]).toMatchObject({ n: 17, total: 34, average: 2 })
  })

  test('at the threshold is not over it; bands include their lower edge', async () => {
    await work([...weekly([48]), ...weekly([44], { worker: 'v' }), ...weekly([43.9999], { worker: 'u' })])
    await buildAt(made(), 'worker_week')
    expect(
      await made().rows(
        `select worker_id as w, is_over_threshold as o, hours_over as h, wtr_risk as r from mart.worker_week order by 1 desc`,
      ),
    ).toEqual([
      { w: 'w', o: false, h: '0.0000', r: '44 to 48' },
      { w: 'v', o: false, h: '0.0000', r: '44 to 48' },
      { w: 'u', o: false, h: '0.0000', r: 'below 44' },
    ])
    await work([{ worker: 'x', week: first, hours: 48.5 }])
    expect(await weeks('x')).toMatchObject([{ risk: 'above 48' }])
    expect(await made().rows(`select hours_over as h from mart.worker_week where is_over_threshold`)).toEqual(
      [{ h: '0.5000' }],
    )
  })

  test('sheets of several companies and calendars add up; what is not approved, gone or nameless is left out', async () => {
    await work([
      { week: first, hours: 30 },
      { week: first, hours: 12.25, more: { company_id: 'd', site_id: 's2' } },
      { week: day(first, 5), hours: 20, more: { company_id: 'd' } },
      { week: first, hours: 99, more: { status: 'pending_approval' } },
      { week: first, hours: 99, more: { is_deleted: true } },
      { worker: '-1', week: first, hours: 99 },
      { worker: 'v', week: first, hours: null },
    ])
    expect(await weeks()).toMatchObject([
      { hours: 42.25, n: 1 },
      { week: day(first, 7), hours: 20, n: 2, total: 62.25, average: 31.125 },
    ])
    expect(
      await made().rows(`select worker_id as w, companies as c, sites as s, timesheets as t from mart.worker_week
        where week_ending_date = '${first}' order by 1`),
    ).toEqual([
      { w: 'v', c: 1, s: 1, t: 1 },
      { w: 'w', c: 2, s: 2, t: 2 },
    ])
  })

  test('two companies that end their weeks on different days make one week', async () => {
    // 30 hours for each: of a week to Sunday the 11th, and of one to Friday the 9th.
    await work([
      { week: day(first, 7), hours: 30 },
      { week: day(first, 5), hours: 30, more: { company_id: 'd' } },
    ])
    expect(await weeks()).toEqual([
      { week: day(first, 7), hours: 60, n: 1, total: 60, average: 60, risk: 'above 48' },
    ])
  })

  test('hours go to the week of the day they were worked, where there are timelogs', async () => {
    // From Thursday the 8th to Wednesday the 14th: most of its days are in the week to the 11th.
    await work([{ week: day(first, 10), hours: 40 }])
    const [sheet] = await made().rows<{ id: string }>('select timesheet_id as id from star.fact_timesheet')
    const log = (on: number, hours: number, more = {}) => ({
      timelog_id: `l${on}`,
      timesheet_id: sheet!.id,
      work_date: day(first, on),
      total_hours: hours,
      ...more,
    })
    await put(made(), 'fact_timelog', [log(4, 10), log(8, 20), log(9, 10), log(10, 99, { is_deleted: true })])
    expect(await weeks()).toMatchObject([
      { week: day(first, 7), hours: 10, n: 1 },
      { week: day(first, 14), hours: 30, n: 2 },
    ])
    const sheets = await made().rows('select cast(sum(timesheets) as integer) as n from mart.worker_week')
    expect(sheets).toEqual([{ n: 1 }])
  })

  test('a day that begins within 11 hours of the one before is a short rest; 23:00 to 06:00 in London is night', async () => {
    await work([{ week: day(first, 7 * 25), hours: 40 }])
    const [sheet] = await made().rows<{ id: string }>('select timesheet_id as id from star.fact_timesheet')
    let logs = 0
    const log = (date: string, from: string, to: string) => ({
      timelog_id: `l${++logs}`,
      timesheet_id: sheet!.id,
      work_date: date,
      start_at: `${from}:00Z`,
      end_at: `${to}:00Z`,
    })
    // The week to Sunday 28 June: clocks in London are an hour ahead.
    await put(made(), 'fact_timelog', [
      log('2026-06-22', '2026-06-22T06:00', '2026-06-22T10:00'),
      // The second half of the same day is no rest of a day.
      log('2026-06-22', '2026-06-22T14:00', '2026-06-22T20:30'),
      // 10.5 hours later; then exactly 11.
      log('2026-06-23', '2026-06-23T07:00', '2026-06-23T15:00'),
      log('2026-06-24', '2026-06-24T02:00', '2026-06-24T10:00'),
      // From 23:00 to 03:00 in London: four hours of night. Then two.
      log('2026-06-25', '2026-06-25T18:00', '2026-06-26T02:00'),
      log('2026-06-27', '2026-06-27T17:00', '2026-06-28T00:00'),
    ])
    await buildAt(made(), 'working_time_weekly')
    expect(
      await made().rows(`select short_rests as short, cast(shortest_rest_hours as double) as shortest, night_shifts as nights,
        cast(night_hours as double) as hours from mart.worker_week where net_hours > 0`),
    ).toEqual([{ short: 1, shortest: 10.5, nights: 2, hours: 9 }])
    expect(
      await made().rows(`select cast(workers_with_short_rest as integer) as workers, cast(night_workers as integer) as night
        from mart.working_time_weekly where net_hours > 0`),
    ).toEqual([{ workers: 1, night: 1 }])
  })

  test('weeks go on to the last one that was read, and not into the future; unknown places are no places', async () => {
    await work([
      { week: first, hours: 10, more: { company_id: '-1', site_id: '-1', agency_id: '-1' } },
      { worker: 'v', week: day(first, 14), hours: 10 },
      { worker: 'u', week: '2027-01-03', hours: 10 },
    ])
    expect(await weeks()).toHaveLength(45)
    expect(await weeks('v')).toHaveLength(43)
    expect(await weeks('u')).toHaveLength(1)
    const [one] = await made().rows(
      `select companies as c, sites as s, agencies as a, is_full_window as f from mart.worker_week
       where worker_id = 'w' and net_hours > 0`,
    )
    expect(one).toEqual({ c: 0, s: 0, a: 0, f: false })
  })
})

describe('mart.assignment_tenure', () => {
  beforeEach(async () => {
    const assignment = { company_id: 'c', project_id: 'p', agency_id: 'a', region_id: '-1', sector_id: '-1' }
    const terms = { rate_type: 'paye', pay_type: 'hourly', pay_rate: 17.5 }
    await put(made(), 'fact_assignment', [
      { assignment_id: 'joiner', trade_id: 'j', ...assignment, ...terms },
      { assignment_id: 'mason', trade_id: 'm', ...assignment, ...terms, pay_type: 'daily' },
    ])
    const card = { company_id: 'c', region_id: '-1', sector_id: '-1', project_id: '-1', agency_id: '-1' }
    await put(made(), 'dim_rate', [
      { rate_id: 'r1', trade_id: 'j', ...card, hourly_paye_comparable_pay_rate: 20, is_inferred: false },
      {
        rate_id: 'r2',
        trade_id: 'j',
        ...card,
        project_id: 'p',
        hourly_paye_comparable_pay_rate: 18.25,
        is_inferred: false,
      },
      { rate_id: 'r3', trade_id: 'm', ...card, hourly_paye_comparable_pay_rate: 21, is_inferred: false },
    ])
  })

  const columns = `trade_id as trade, weeks_worked as worked, awr_start_week_ending_date as start, awr_week_count as count,
    is_awr_qualified as qualified, awr_qualifies_on as qualifies, is_awr_clock_running as running, tenure_band as band`
  async function tenure(today: string) {
    await buildAt(made(), 'assignment_tenure', today)
    return made().rows(`select ${columns} from mart.assignment_tenure order by 1`)
  }
  const joining = (hours: readonly (number | null)[]): Sheet[] =>
    weekly(hours, { more: { assignment_id: 'joiner' } })
  const weeksOf = (count: number): number[] => Array(count).fill(40)
  const off = (count: number): null[] => Array(count).fill(null)

  test('twelve weeks in a row qualify on the day after the twelfth', async () => {
    await work(joining(weeksOf(12)))
    expect(await tenure('2026-03-23')).toEqual([
      {
        trade: 'j',
        worked: 12,
        start: first,
        count: 12,
        qualified: true,
        qualifies: '2026-03-23',
        running: true,
        band: '12 to 25',
      },
    ])
  })

  test('eleven do not, and say when they would', async () => {
    await work(joining(weeksOf(11)))
    expect(await tenure('2026-03-16')).toMatchObject([
      { count: 11, qualified: false, qualifies: '2026-03-23', band: '4 to 11' },
    ])
  })

  test('six weeks off pause the count', async () => {
    await work(joining([...weeksOf(6), ...off(6), ...weeksOf(6)]))
    expect(await tenure('2026-05-05')).toMatchObject([
      { worked: 12, start: first, count: 12, qualified: true, qualifies: day(first, 7 * 17 + 1) },
    ])
  })

  test('seven begin it again', async () => {
    await work(joining([...weeksOf(11), ...off(7), ...weeksOf(2)]))
    expect(await tenure('2026-05-20')).toMatchObject([
      {
        worked: 13,
        start: day(first, 7 * 18),
        count: 2,
        qualified: false,
        qualifies: day(first, 7 * 29 + 1),
      },
    ])
  })

  test('the clock stops when the last week is more than six weeks back', async () => {
    await work(joining([40]))
    expect(await tenure(day(first, 42))).toMatchObject([{ count: 1, running: true, band: 'under 4' }])
    expect(await tenure(day(first, 43))).toMatchObject([{ count: 1, running: false }])
  })

  test('agencies share a count, trades do not, and weeks without hours are left out', async () => {
    await work([
      ...joining([20, 40]),
      { week: first, hours: 20, more: { assignment_id: 'joiner', agency_id: 'b' } },
      { week: day(first, 14), hours: 0, more: { assignment_id: 'joiner' } },
      { week: day(first, 14), hours: 30, more: { assignment_id: 'mason' } },
    ])
    expect(await tenure('2026-01-20')).toMatchObject([
      { trade: 'j', worked: 2, count: 2 },
      { trade: 'm', worked: 1, count: 1 },
    ])
    expect(
      await made().rows(`select agencies, net_hours as hours, latest_assignment_id as latest, pay_rate as pay,
        comparable_pay_rate as comparable, comparable_pay_gap as gap from mart.assignment_tenure order by trade_id`),
    ).toEqual([
      {
        agencies: 2,
        hours: '80.0000',
        latest: 'joiner',
        pay: '17.5000',
        comparable: '18.2500',
        gap: '0.7500',
      },
      { agencies: 1, hours: '30.0000', latest: 'mason', pay: null, comparable: null, gap: null },
    ])
  })

  test('hours after the twelfth week below comparable pay are money in breach; those that cannot be compared are apart', async () => {
    const sheet = (week: number, more: Sheet['more'] = {}): Sheet => ({
      week: day(first, 7 * week),
      hours: 40,
      more: { assignment_id: 'joiner', ...more },
    })
    await work([
      ...joining(weeksOf(12)),
      sheet(12),
      sheet(13, { rate_wd_pay: 18 }),
      sheet(14, { rate_wd_pay: 18.25 }),
      sheet(15, { pay_type: 'daily' }),
      sheet(15, { status: 'pending_approval' }),
    ])
    await buildAt(made(), 'assignment_tenure', '2026-05-05')
    const columns = `cast(awr_hours_after as double) as after, cast(awr_compared_hours as double) as compared,
      cast(awr_underpaid_hours as double) as under, cast(awr_underpaid_value as double) as money`
    // 40 hours at 17.50 and 40 at 18.00, where the card says 18.25.
    expect(await made().rows(`select ${columns} from mart.assignment_tenure`)).toEqual([
      { after: 160, compared: 120, under: 80, money: 40 },
    ])
  })

  test('the twelfth week itself is not in breach', async () => {
    await work(joining(weeksOf(12)))
    await buildAt(made(), 'assignment_tenure', '2026-05-05')
    expect(
      await made().rows(`select cast(awr_hours_after as double) as after from mart.assignment_tenure`),
    ).toEqual([{ after: 0 }])
  })
})
