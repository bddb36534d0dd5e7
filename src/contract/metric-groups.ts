/** The two aggregates of recruitment, as the service answers them. */
import type { Holding } from './fields/operation.ts'

interface Grouped {
  /** One property for each key of groupBy; empty for `all`. What stands under a key the contract does not show. */
  readonly group: Readonly<Record<string, unknown>>
}

/** Days from the approval of requisitions to the acceptance by agencies, outliers beyond 1.5 interquartile ranges apart. */
export type TimeToFill = Grouped & {
  /** Acceptances before outliers were excluded. */
  readonly rawCount: number
  readonly excludedOutliers: number
  /** Days. */
  readonly iqrBounds: { readonly lower: number | null; readonly upper: number | null }
  /** Of what was kept. */
  readonly values: { readonly count: number } & Readonly<
    Record<'averageDays' | 'medianDays' | 'minDays' | 'maxDays' | 'p25Days' | 'p75Days', number | null>
  >
}

/** Worker-weeks beyond a number of hours. */
export type WorkersOverHours = Grouped & {
  readonly values: {
    /** Which hours of a timesheet were counted. */
    readonly hoursField: string
  } & Readonly<
    Record<
      | 'thresholdHours'
      | 'workerWeeks'
      | 'workersOverThreshold'
      | 'distinctWorkersOverThreshold'
      | 'totalHours'
      | 'averageWeeklyHours'
      | 'maxWeeklyHours',
      number
    >
  >
}

export const fillGroups: Holding<TimeToFill> = {}
export const hoursGroups: Holding<WorkersOverHours> = {}
