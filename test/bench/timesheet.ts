/** Timesheets for measuring: the size and shape of real ones, made fast, the same every time. */
import { seededRng } from '../../src/lib/rng.ts'

const rateKeys = ['wd', 'wdNw', 'weNw', 'bh', 'bhNight', 'sat', 'sun', 'ot']
const buckets = [
  'wdBasic',
  'wdOvertime',
  'wdNightwork',
  'weNightwork',
  'bankHoliday',
  'bankHolidayNight',
  'saturday',
  'sunday',
  'saturdayNightwork',
  'sundayNightwork',
  'total',
]

/** They end here, before the clock of any machine that measures: a list whose newest time is yet to come has no watermark. */
const end = Date.UTC(2026, 7, 8)
const defaultStepMs = 500_000
/** More than 600,000 are as many in ten years, closer together. */
const longestMs = 300_000_000_000

/** When each of so many timesheets was created. */
export class Calendar {
  readonly #begin: number
  readonly #stepMs: number

  constructor(count: number) {
    this.#stepMs = Math.min(defaultStepMs, Math.floor(longestMs / count))
    this.#begin = end - count * this.#stepMs
  }

  createdAt(index: number): number {
    return this.#begin + index * this.#stepMs
  }

  /** How many were created before that moment. */
  createdBefore(ms: number): number {
    return Math.ceil((ms - this.#begin) / this.#stepMs)
  }
}

const id = (kind: number, index: number): string => (kind * 1e15 + index).toString(16).padStart(24, '6')
/** Begins with the second of its creation, as an ObjectId does: records of one time have ids side by side. */
const objectId = (created: number, index: number): string =>
  Math.floor(created / 1000)
    .toString(16)
    .padStart(8, '0') + index.toString(16).padStart(16, '0')
const ref = (kind: number, index: number, name: string) => ({ id: id(kind, index), name: `${name} ${index}` })

function timelogsOf(index: number, created: number, amount: () => number) {
  const split = () => ({ standard: amount(), overtime: 0, total: amount() })
  const date = new Date(created).toISOString()
  return [0, 1, 2, 3, 4].map(day => ({
    id: objectId(created, index * 8 + day),
    status: 'approved',
    date,
    start: date,
    end: date,
    shiftType: 'day',
    breaks: 60,
    rateDescription: 'Basic',
    hours: { standard: 8, overtime: 0, total: 8 },
    rates: { pay: amount(), emp: amount(), margin: amount(), charge: amount() },
    values: { pay: split(), emp: split(), margin: split(), charge: split() },
    costCodeAllocations: [{ costCode: { name: `CC${index % 40}`, description: 'Steel' }, hours: 8 }],
  }))
}

/** `created` in milliseconds. */
export function timesheet(
  index: number,
  created: number,
  timelogs: 'with' | 'without',
): Record<string, unknown> {
  const rng = seededRng(index)
  const amount = () => Math.round(rng() * 100_000) / 100
  const values = () => Object.fromEntries(buckets.map(key => [key, amount()]))
  const time = new Date(created).toISOString()
  const rates = rateKeys.map(key => [
    key,
    { pay: amount(), emp: amount(), margin: amount(), charge: amount(), uplift: key === 'wd' ? null : 1.5 },
  ])
  return {
    id: objectId(created, index),
    reference: `TS-${index}`,
    status: 'approved',
    worker: ref(2, index % 4000, 'Worker'),
    company: ref(3, index % 3, 'Company'),
    project: ref(4, index % 60, 'Project'),
    site: ref(5, index % 150, 'Site'),
    agency: ref(6, index % 25, 'Agency'),
    assignment: { id: id(7, index % 5000), reference: `AS-${index % 5000}` },
    payType: 'hourly',
    rateType: 'paye',
    start: time,
    end: time,
    weekEnding: time,
    approvedDate: time,
    createdAt: time,
    updatedAt: time,
    version: 3,
    netHours: 40.5,
    approvalRequestedBy: { ...ref(8, 1, 'User'), type: 'agency' },
    approvedBy: ref(8, 2, 'User'),
    timesheetApprovers: [ref(8, 2, 'User'), ref(8, 3, 'User')],
    rates: Object.fromEntries(rates),
    values: { pay: values(), charge: values(), expense: 0 },
    pieceRateEntries: [],
    ...(timelogs === 'with' && { timelogs: timelogsOf(index, created, amount) }),
    submissionAnswers: [],
  }
}
