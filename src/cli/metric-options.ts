/** Declares the options that `metric` and `crosscheck` share. */
import { InvalidArgumentError } from 'commander'
import { groupingName, groupingOf, groupKeys, type MetricRange } from '../crosscheck/metrics/metric-query.ts'
import { type CommandModule, calendarDay, type Options, textOption } from './command.ts'

/** Accepts `all`, or keys separated by commas. */
export function groupingOption(text: string): string {
  const grouping = groupingOf(text)
  if (grouping) return groupingName(grouping)
  throw new InvalidArgumentError(`Give all, or some of ${groupKeys.join(', ')}, separated by commas.`)
}

/** Accepts a number of hours below 1000. */
function hours(text: string): number {
  if (/^\d{1,3}(\.\d+)?$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a number of hours below 1000.')
}

export const thresholdOption = {
  flags: '--threshold <hours>',
  summary: 'weekly hours of workersOverHours; default 48',
  parse: hours,
} as const

export const rangeOptions = [
  { flags: '--from <day>', summary: 'first day, YYYY-MM-DD', parse: calendarDay },
  { flags: '--to <day>', summary: 'last day, YYYY-MM-DD', parse: calendarDay },
  { flags: '--company <id>', summary: 'only this company' },
  { flags: '--project <id>', summary: 'only this project' },
  { flags: '--agency <id>', summary: 'only this agency' },
] as const satisfies CommandModule['options']

export function rangeOf(options: Options): MetricRange {
  return Object.fromEntries(
    (['from', 'to', 'company', 'project', 'agency'] as const).flatMap(name => {
      const value = textOption(options, name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
