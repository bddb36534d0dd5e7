/** Judges a headline figure: its change, whether it left its usual range, and which members explain most of the change. */
import { utcDay } from '../lib/dates.ts'
import { type UsualRange, usualPeriods, usualRangeOf } from '../lib/usual-range.ts'

/** A figure of one settled week; a ratio has the totals that it is made of, as ratios of weeks do not average. */
export interface HeadlineWeek {
  /** The Sunday that ends it. */
  readonly week: string
  readonly value: number
  readonly parts?: { readonly numerator: number; readonly denominator: number }
}

/** One agency at one project: its figure in the last week, and its average over the weeks before. */
export interface HeadlineMember {
  readonly name: string
  readonly now: number
  readonly before: number
}

/** A member that moved the way the figure did, with its share of the change. */
export interface Contribution {
  readonly name: string
  readonly share: number
}

export interface HeadlineFacts {
  readonly week: string
  readonly value: number
  /** Over the settled weeks before, at most four; null without any. */
  readonly before: number | null
  readonly weeksBefore: number
  /** 52 weeks earlier; null when that week is not settled or not stored. */
  readonly lastYear: number | null
  /** Null with fewer than 13 settled weeks before. */
  readonly range: UsualRange | null
  readonly isUnusual: boolean
  readonly contributions: readonly Contribution[]
}

/** Settled weeks that the last one is compared with. */
const weeksCompared = 4
const weeksInYear = 52

/** The average of amounts; of a ratio, the ratio of the totals. */
function averageOf(weeks: readonly HeadlineWeek[]): number | null {
  if (weeks.length === 0) return null
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  const parts = weeks.flatMap(({ parts: one }) => (one ? [one] : []))
  if (parts.length < weeks.length) return sum(weeks.map(({ value }) => value)) / weeks.length
  const denominator = sum(parts.map(one => one.denominator))
  return denominator === 0 ? null : sum(parts.map(one => one.numerator)) / denominator
}

const maxMembers = 2
/** A single member that explains this much of the change needs no second. */
const shareOfOneMember = 0.5
/** Members that explain less than this together explain nothing. */
const minExplained = 0.25

/** The one or two members that explain most of a change; none if it is spread over many. */
export function contributionsTo(change: number, members: readonly HeadlineMember[]): Contribution[] {
  if (change === 0) return []
  const shares = members
    .map(({ name, now, before }) => ({ name, share: (now - before) / change }))
    .filter(({ share }) => share > 0)
    .toSorted((one, other) => other.share - one.share)
  const [first] = shares
  const chosen = first && first.share >= shareOfOneMember ? [first] : shares.slice(0, maxMembers)
  return chosen.reduce((total, { share }) => total + share, 0) >= minExplained ? chosen : []
}

/** `weeks`: settled ones only, oldest first. Undefined without any. */
export function judgeHeadline(
  weeks: readonly HeadlineWeek[],
  members: readonly HeadlineMember[] = [],
): HeadlineFacts | undefined {
  const last = weeks.at(-1)
  if (!last) return undefined
  const earlier = weeks.slice(0, -1)
  const compared = earlier.slice(-weeksCompared)
  const before = averageOf(compared)
  const yearAgo = utcDay(last.week, -7 * weeksInYear)
  const usual = earlier.slice(-usualPeriods).map(({ value }) => value)
  const range = usual.length < usualPeriods ? null : usualRangeOf(usual)
  const isUnusual = range !== null && (last.value < range.low || last.value > range.high)
  return {
    week: last.week,
    value: last.value,
    before,
    weeksBefore: compared.length,
    lastYear: earlier.find(({ week }) => week === yearAgo)?.value ?? null,
    range,
    isUnusual,
    contributions: isUnusual && before !== null ? contributionsTo(last.value - before, members) : [],
  }
}

/** Null where a share of nothing has no meaning. */
export const relativeChange = (now: number, before: number | null): number | null =>
  before === null || before === 0 ? null : (now - before) / Math.abs(before)

const fractions: readonly (readonly [upTo: number, words: string])[] = [
  [0.29, 'a quarter of it'],
  [0.41, 'a third of it'],
  [0.58, 'half of it'],
  [0.7, 'two thirds of it'],
  [0.85, 'three quarters of it'],
  [0.95, 'most of it'],
  [1.05, 'all of it'],
]

/** A share of a change, as it is said aloud. */
export const shareInWords = (share: number): string =>
  fractions.find(([upTo]) => share < upTo)?.[1] ?? 'more than all of it'

const percent = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 0 })

/** `up 12%`, `down 3%`, `unchanged`. */
export function changeInWords(change: number): string {
  const size = percent.format(Math.abs(change))
  if (size === '0%') return 'unchanged'
  return `${change > 0 ? 'up' : 'down'} ${size}`
}

/** `Labour cost is up 12% on the 4 weeks before, two thirds of it Anchor Resourcing at Langdale Bridge.` */
export function sentenceOf(label: string, facts: HeadlineFacts): string | undefined {
  const change = relativeChange(facts.value, facts.before)
  if (!facts.isUnusual || change === null) return undefined
  const total = facts.contributions.reduce((sum, { share }) => sum + share, 0)
  const names = facts.contributions.map(({ name }) => name).join(' and ')
  const why = names === '' ? '' : `, ${shareInWords(total)} ${names}`
  return `${label} left its usual range: ${changeInWords(change)} on the ${weeksInWords(facts.weeksBefore)} before${why}.`
}

/** `4 weeks`, `week`. */
export const weeksInWords = (weeks: number): string => (weeks === 1 ? 'week' : `${weeks} weeks`)
