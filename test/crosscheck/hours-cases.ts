/** Timesheets, one a project, small enough to count by hand: SQL and the search for records count them alike. */
import { definitionDefaults, type MetricDefinition } from '../../src/crosscheck/metrics/definition.ts'

const createdAt = '2026-01-02T00:00:00.000Z'

/** On a project of its own. */
export const sheet = (id: string, more: object = {}) => ({
  ...{
    id,
    reference: `TS-${id}`,
    status: 'approved',
    netHours: 40,
    version: 1,
    createdAt,
    updatedAt: createdAt,
  },
  ...{ company: { id: 'c1', name: 'One' }, project: { id, name: `Project ${id}` } },
  ...{ agency: { id: 'a1', name: 'Hands' }, worker: { id: 'w1', name: 'Worker' } },
  weekEnding: '2026-05-10T00:00:00.000Z',
  ...more,
})

export interface HoursCase {
  readonly rule: string
  readonly record: ReturnType<typeof sheet>
  readonly under: Partial<MetricDefinition>
  /** Undefined where the timesheet does not count. */
  readonly hours: number | undefined
}

const log = (id: string, total: number) => ({
  ...{ id, day: '2026-05-08T00:00:00.000Z', hours: { standard: total, total } },
})

const plain = sheet('plain')
const logged = sheet('logged', { timelogs: [log('l1', 7.5), log('l2', 8)] })
const pending = sheet('pending', { status: 'pending' })
const stateless = sheet('stateless', { status: null })
const empty = sheet('empty', { netHours: null })
const endless = sheet('endless', { weekEnding: null })

const rows: readonly (readonly [
  string,
  HoursCase['record'],
  Partial<MetricDefinition>,
  number | undefined,
])[] = [
  ['an approved timesheet counts its net hours', plain, {}, 40],
  ['a pending one does not count', pending, {}, undefined],
  ['a state that is named counts', pending, { timesheetStatuses: ['approved', 'pending'] }, 40],
  ['a state that is left out does not count', plain, { timesheetStatuses: ['pending'] }, undefined],
  ['a part of the name of a state is none', pending, { timesheetStatuses: ['pending_approval'] }, undefined],
  ['a timesheet without a state does not count', stateless, {}, undefined],
  ['a timesheet without hours has none', empty, {}, 0],
  ['a timesheet without a week does not count', endless, {}, undefined],
  ['hours of timelogs are added up', logged, { hoursField: 'timelogHours' }, 15.5],
  ['without timelogs there are none of them', plain, { hoursField: 'timelogHours' }, 0],
  ['net hours are not those of timelogs', logged, {}, 40],
  ['a company that is named counts', plain, { companies: ['c0', 'c1'] }, 40],
  ['a company that is left out does not count', plain, { companies: ['c0', 'c11'] }, undefined],
]

export const hoursCases: readonly HoursCase[] = rows.map(([rule, record, under, hours]) => ({
  ...{ rule, record, under, hours },
}))

export const define = (parts: Partial<MetricDefinition>): MetricDefinition => ({
  ...definitionDefaults,
  ...parts,
})
