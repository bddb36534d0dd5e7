/** The progress of a run as lines of text, computed from its events and the time: no terminal, no colours, no clock. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { isFinal, type ProgressEvent, type ProgressState } from './progress-state.ts'
import { doneOf, minElapsedMs, sum, timeLeft } from './time-left.ts'

interface Screen {
  readonly width: number
  readonly height: number
  /** Whether the terminal has blocks to draw bars with; else they are made of signs. */
  readonly hasBlocks?: boolean
}

/** Those at work, those that wait, and those that ended, the last ones first. */
const orderOf = (event: ProgressEvent): number => (event.state === 'waiting' ? 1 : isFinal(event) ? 2 : 0)

/** What does not fit on the screen is counted: a display higher than it could not be redrawn. */
function fitting(
  events: readonly ProgressEvent[],
  room: number,
): [readonly ProgressEvent[], readonly string[]] {
  if (events.length <= room) return [events, []]
  const ranked = events
    .toSorted((one, other) => orderOf(one) - orderOf(other))
    .slice(0, Math.max(0, room - 1))
  const others = events.filter(event => !ranked.includes(event))
  const done = others.filter(isFinal).length
  return [
    events.filter(event => ranked.includes(event)),
    [`and ${done} that ended, ${others.length - done} that ${others.length - done === 1 ? 'waits' : 'wait'}`],
  ]
}

/** One line a resource and a footer, none longer or more than the screen has. */
export function renderProgress(state: ProgressState, screen: Screen, nowMs: number): readonly string[] {
  const { width, height } = screen
  const [events, rest] = fitting([...state.resources.values()], height - 2)
  const longest = Math.max(0, ...events.map(event => event.resource.length))
  const hasBars = events.some(event => barOf(event, screen) !== undefined)
  const lines = events.map(event => {
    const bar = hasBars ? `${barOf(event, screen) ?? ' '.repeat(barWidth(width))}  ` : ''
    return `${event.resource.padEnd(longest)}  ${event.state.padEnd(stateWidth)}  ${bar}${figuresOf(event)}`.trimEnd()
  })
  return [...lines, ...rest, footer(state, nowMs)].map(line => shorten(line, width))
}

const stateWidth = 'scanning'.length

const barWidth = (width: number): number => (width < 80 ? 6 : 12)

/** Undefined where nobody knows how much there is. */
function barOf(event: ProgressEvent, { width, hasBlocks = true }: Screen): string | undefined {
  const { pagesTotal } = event
  if (pagesTotal === undefined || event.state === 'failed' || event.state === 'skipped') return undefined
  const cells = barWidth(width)
  const share = event.state === 'done' ? 1 : Math.min(1, doneOf(event) / Math.max(1, pagesTotal))
  const full = Math.floor(share * cells)
  const [block, space] = hasBlocks ? ['█', '░'] : ['#', '-']
  return `${block?.repeat(full)}${space?.repeat(cells - full)}`
}

/** `scanning  12/50 pages  2,400 rows  31 changed  12 requests` */
export const describe = (event: ProgressEvent): string =>
  `${event.state.padEnd(stateWidth)}  ${figuresOf(event)}`.trimEnd()

function figuresOf(event: ProgressEvent): string {
  const parts = [
    pagesOf(event),
    event.rows === undefined ? undefined : counted(event.rows, 'row'),
    event.changed === undefined ? undefined : `${formatNumber(event.changed)} changed`,
    event.requests === undefined ? undefined : counted(event.requests, 'request'),
    event.note,
  ]
  return parts.filter(part => part !== undefined).join('  ')
}

function pagesOf({ pagesDone, pagesTotal }: ProgressEvent): string | undefined {
  if (pagesDone === undefined || pagesTotal === undefined)
    return pagesDone === undefined ? undefined : counted(pagesDone, 'page')
  return `${formatNumber(pagesDone)}/${counted(pagesTotal, 'page')}`
}

/** `elapsed 1:05, about 0:40 left  36 rows a second  12 requests, 9,988 left today` */
function footer(state: ProgressState, nowMs: number): string {
  const elapsedMs = nowMs - state.startedMs
  const left = timeLeft(state, elapsedMs)
  const rest = left === undefined ? '' : `, ${left.isLeast ? 'at least' : 'about'} ${clockTime(left.ms)} left`
  const time = `elapsed ${clockTime(elapsedMs)}${rest}`
  const rows = sum([...state.resources.values()].map(event => event.rows))
  const rate = elapsedMs >= minElapsedMs && rows > 0 ? Math.round((rows * 1000) / elapsedMs) : undefined
  const parts = [time, ...(rate === undefined ? [] : [`${counted(rate, 'row')} a second`])]
  if (!state.budget) return parts.join('  ')
  const { remainingToday, spentThisRun } = state.budget
  const today = remainingToday === undefined ? '' : `, ${formatNumber(remainingToday)} left today`
  return [...parts, `${counted(spentThisRun, 'request')}${today}`].join('  ')
}

/** `0:41`, `1:02:03` */
function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const minutes = Math.floor(seconds / 60)
  const rest = String(seconds % 60).padStart(2, '0')
  if (minutes < 60) return `${minutes}:${rest}`
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`
}

function shorten(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`
}
