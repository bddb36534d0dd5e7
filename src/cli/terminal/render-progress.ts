/** Renders the progress of a run as lines of text, from its events. Pure: no terminal, colours or clock. */
import { counted, formatNumber } from '../../lib/counted.ts'
import { minuteMs } from '../../lib/dates.ts'

type ResourceProgress = 'waiting' | 'scanning' | 'loading' | 'done' | 'skipped' | 'incomplete' | 'failed'

/** Counts are totals so far, not steps; a field that an event leaves out keeps its value. */
export interface ProgressEvent {
  readonly resource: string
  readonly state: ResourceProgress
  readonly pagesDone?: number
  readonly pagesTotal?: number
  /** Upper bound of pages, when reading may add more to read; otherwise `pagesTotal`. */
  readonly pagesMost?: number
  readonly rows?: number
  readonly changed?: number
  readonly requests?: number
  readonly note?: string
  /** Counted in the summary instead of shown on its own line. */
  readonly isMinor?: boolean
}

export interface BudgetEvent {
  /** Undefined until the service has reported it. */
  readonly remainingToday: number | undefined
  readonly spentThisRun: number
  /** Requests a minute that the key allows; undefined until the service has reported it. */
  readonly perMinute?: number
}

export interface ProgressState {
  readonly startedMs: number
  /** In the order of their first events. */
  readonly resources: ReadonlyMap<string, ProgressEvent>
  readonly budget?: BudgetEvent
}

/** The state before any event. */
export const atStart = (startedMs: number): ProgressState => ({ startedMs, resources: new Map() })

export function withEvent(state: ProgressState, event: ProgressEvent): ProgressState {
  const merged = { ...state.resources.get(event.resource), ...event }
  return { ...state, resources: new Map(state.resources).set(event.resource, merged) }
}

/** Whether no further event follows. */
export function isFinal({ state }: ProgressEvent): boolean {
  return ['done', 'skipped', 'incomplete', 'failed'].includes(state)
}

/** Before this, one slow page would distort the estimate. */
const minElapsedMs = 3_000

/** Pages, and records read one by one, each take one request. */
const doneOf = (event: ProgressEvent): number => event.pagesDone ?? event.requests ?? 0

const sum = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0)

/** Milliseconds per request: as measured so far, but no faster than the limit allows once the run exceeds it. */
function paceMs(
  { sent, left, perMinute }: { sent: number; left: number; perMinute?: number },
  elapsedMs: number,
): number {
  const own = elapsedMs / sent
  return perMinute !== undefined && sent + left > perMinute ? Math.max(own, minuteMs / perMinute) : own
}

interface TimeLeft {
  readonly ms: number
  /** The estimate is a minimum: records still to be read may name others. */
  readonly isLeast: boolean
}

/** Undefined until every resource has reported its size, or when no request is left. */
export function timeLeft({ resources, budget }: ProgressState, elapsedMs: number): TimeLeft | undefined {
  const running = [...resources.values()].filter(event => !isFinal(event))
  const sent = budget?.spentThisRun ?? sum([...resources.values()].map(doneOf))
  if (elapsedMs < minElapsedMs || sent === 0) return undefined
  if (running.some(({ pagesTotal }) => pagesTotal === undefined)) return undefined
  const left = sum(running.map(event => Math.max(0, (event.pagesTotal ?? 0) - doneOf(event))))
  if (left === 0) return undefined
  return {
    ms: left * paceMs({ sent, left, ...(budget?.perMinute && { perMinute: budget.perMinute }) }, elapsedMs),
    isLeast: running.some(({ pagesTotal = 0, pagesMost = 0 }) => pagesMost > pagesTotal),
  }
}

interface Screen {
  readonly width: number
  readonly height: number
  /** Whether bars can use block characters; otherwise they use ASCII signs. */
  readonly hasBlocks?: boolean
}

/** Order of lines: active resources, waiting ones, then ended ones. */
const orderOf = (event: ProgressEvent): number => (event.state === 'waiting' ? 1 : isFinal(event) ? 2 : 0)

/** Counts the lines that do not fit: a display higher than the screen could not be redrawn. */
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

/** One line per resource and a footer, cut to the size of the screen. */
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

/** Undefined if the total is unknown. */
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
