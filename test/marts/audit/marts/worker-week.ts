import type { Audit, Expected } from '../compare.ts'
import type { Raw } from '../odd-world.ts'
import { addDays, dayOf, distinct, groupsOf, idOf, isWorked, sum, weekEndOf } from '../words.ts'

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
  const bySunday = groupsOf<Raw>(sheet.timelogs, ({ date }) => sundayOf(dayOf(date) as string))
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
    const workers = groupsOf(parts, ({ sheet }) => idOf(sheet.worker))
    return [...workers].flatMap(([worker, own]) => {
      const weeks = groupsOf(own, ({ sunday }) => sunday)
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
        })
      }
      return rows
    })
  },
}
