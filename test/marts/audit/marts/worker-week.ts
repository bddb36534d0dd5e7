import type { Planted } from '../../planting.ts'
import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import {
  addDays,
  dayOf,
  distinct,
  elapsedHours,
  groupBy,
  idOf,
  isWorked,
  secondOfDay,
  sum,
  weekEndOf,
} from '../words.ts'

/** The Sunday that ends the week of a day. */
const sundayOf = (day: string): string => weekEndOf(day, undefined)

interface Part {
  readonly sheet: Raw
  readonly sunday: string
  readonly hours: number
  /** Whether most days of the timesheet are in this week. */
  readonly isMain: boolean
}

/** Four of the seven days up to the end of its week are in the week of the day three days before it. */
const mainSunday = (week: string): string => sundayOf(addDays(week, -3))

function partsOf(sheet: Raw): Part[] {
  const week = dayOf(sheet.weekEnding) as string
  const main = mainSunday(week)
  const logged = sum(sheet.timelogs, ({ hours }: Raw) => hours.total)
  if (week === sundayOf(week) || logged === 0)
    return [{ sheet, sunday: main, hours: sheet.netHours, isMain: true }]
  const bySunday = groupBy<string, Raw>(sheet.timelogs, ({ date }) => sundayOf(dayOf(date) as string))
  const parts = [...bySunday].map(([sunday, logs]) => ({
    sheet,
    sunday,
    hours: (sheet.netHours * sum(logs, ({ hours }) => hours.total)) / logged,
    isMain: sunday === main,
  }))
  return bySunday.has(main) ? parts : [...parts, { sheet, sunday: main, hours: 0, isMain: true }]
}

const known = (parts: readonly Part[], field: string): number =>
  distinct(parts.map(({ sheet }) => idOf(sheet[field])).filter(id => id !== '-1'))

function riskOf(average: number): string {
  if (average > 48) return 'above 48'
  return average >= 44 ? '44 to 48' : 'below 44'
}

export const planted: readonly Planted[] = [
  {
    check: 'mart_worker_week_totals',
    subject: 'mart.worker_week',
    statements: ['update mart.worker_week set night_shifts = 7, night_hours = 20.9 where net_hours > 0'],
  },
]

/** 23:00 to 06:00 of the night before, this one and the next, in seconds from midnight. */
const nights = [-3600, 82_800, 169_200] as const

function nightHours({ start, end }: Raw): number {
  const from = secondOfDay(start)
  const to = from + elapsedHours(start, end) * 3600
  return sum(nights, night => Math.max(0, Math.min(to, night + 25_200) - Math.max(from, night))) / 3600
}

interface Day {
  readonly sunday: string
  readonly rest: number | null
  readonly night: number
}

/** Days with timelogs that have a start and an end, each with the hours since the end of the day before it. */
function daysOf(sheets: readonly Raw[]): Day[] {
  const logs = sheets.flatMap(({ timelogs }) => timelogs as Raw[]).filter(({ start, end }) => start < end)
  const days = [...groupBy<string, Raw>(logs, ({ date }) => dayOf(date) as string)].sort(([one], [other]) =>
    one < other ? -1 : 1,
  )
  const startOf = (own: readonly Raw[]): string => own.map(({ start }) => start).sort()[0]
  const endOf = (own: readonly Raw[]): string =>
    own
      .map(({ end }) => end)
      .sort()
      .at(-1)
  return days.map(([day, own], place) => {
    const before = days[place - 1]
    return {
      sunday: sundayOf(day),
      rest: before ? elapsedHours(endOf(before[1]), startOf(own)) : null,
      night: sum(own, nightHours),
    }
  })
}

function restOf(days: readonly Day[]): Expected {
  const rests = days.flatMap(({ rest }) => (rest === null ? [] : [rest]))
  return {
    short_rests: rests.filter(rest => rest < 11).length,
    shortest_rest_hours: rests.length === 0 ? null : Math.min(...rests),
    night_shifts: days.filter(({ night }) => night >= 3).length,
    night_hours: sum(days, ({ night }) => night),
  }
}

export const workerWeek: Audit = {
  mart: 'worker_week',
  rows: ({ live }) => {
    const parts = live.timesheets
      .filter(sheet => isWorked(sheet) && idOf(sheet.worker) !== '-1')
      .flatMap(partsOf)
    const last = parts
      .map(({ sunday }) => sunday)
      .sort()
      .at(-1) as string
    const workers = groupBy(parts, ({ sheet }) => idOf(sheet.worker))
    return [...workers].flatMap(([worker, own]) => {
      const weeks = groupBy(own, ({ sunday }) => sunday)
      const days = groupBy(daysOf([...new Set(own.map(({ sheet }) => sheet))]), ({ sunday }) => sunday)
      const rows: Expected[] = []
      const hours: number[] = []
      for (let sunday = [...weeks.keys()].sort()[0] as string; sunday <= last; sunday = addDays(sunday, 7)) {
        const now = weeks.get(sunday) ?? []
        const net = sum(now, part => part.hours)
        hours.push(net)
        const window = hours.slice(-17)
        const total = sum(window, one => one)
        const average = Math.round((total / window.length) * 1e9) / 1e9
        rows.push({
          worker_id: worker,
          week_ending_date: sunday,
          net_hours: net,
          timesheets: now.filter(({ isMain }) => isMain).length,
          companies: known(now, 'company'),
          sites: known(now, 'site'),
          agencies: known(now, 'agency'),
          is_over_threshold: net > 48,
          hours_over: Math.max(0, net - 48),
          weeks_averaged: window.length,
          is_full_window: window.length === 17,
          hours_17_weeks: total,
          avg_17_week_hours: average,
          wtr_risk: riskOf(average),
          ...restOf(days.get(sunday) ?? []),
        })
      }
      return rows
    })
  },
}
