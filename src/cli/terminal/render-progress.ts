/** The progress of a run as lines of text, computed from its events and the time: no terminal, no colours, no clock. */
import { counted, formatNumber } from '../../lib/counted.ts'

type ResourceState = 'waiting' | 'scanning' | 'loading' | 'done' | 'skipped' | 'incomplete' | 'failed'

/** Counts are totals so far, not steps; a field that an event leaves out keeps its value. */
export interface ProgressEvent {
  readonly resource: string
  readonly state: ResourceState
  readonly pagesDone?: number
  readonly pagesTotal?: number
  readonly rows?: number
  readonly changed?: number
  readonly requests?: number
  readonly note?: string
}

export interface BudgetEvent {
  /** Undefined where the service has not told it. */
  readonly remainingToday: number | undefined
  readonly spentThisRun: number
}

export interface ProgressState {
  readonly startedMs: number
  /** In the order of their first events. */
  readonly resources: ReadonlyMap<string, ProgressEvent>
  readonly budget?: BudgetEvent
}

export function withEvent(state: ProgressState, event: ProgressEvent): ProgressState {
  const merged = { ...state.resources.get(event.resource), ...event }
  return { ...state, resources: new Map(state.resources).set(event.resource, merged) }
}

/** Whether no further event follows. */
export function isFinal({ state }: ProgressEvent): boolean {
  return ['done', 'skipped', 'incomplete', 'failed'].includes(state)
}

interface Screen {
  readonly width: number
  readonly height: number
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
export function renderProgress(
  state: ProgressState,
  { width, height }: Screen,
  nowMs: number,
): readonly string[] {
  const [events, rest] = fitting([...state.resources.values()], height - 2)
  const longest = Math.max(0, ...events.map(event => event.resource.length))
  const lines = events.map(event => `${event.resource.padEnd(longest)}  ${describe(event)}`)
  return [...lines, ...rest, footer(state, nowMs)].map(line => shorten(line, width))
}

/** `scanning  12/50 pages  2,400 rows  31 changed  12 requests` */
export function describe(event: ProgressEvent): string {
  const parts = [
    event.state.padEnd('scanning'.length),
    pagesOf(event),
    event.rows === undefined ? undefined : counted(event.rows, 'row'),
    event.changed === undefined ? undefined : `${formatNumber(event.changed)} changed`,
    event.requests === undefined ? undefined : counted(event.requests, 'request'),
    event.note,
  ]
  return parts
    .filter(part => part !== undefined)
    .join('  ')
    .trimEnd()
}

function pagesOf({ pagesDone, pagesTotal }: ProgressEvent): string | undefined {
  if (pagesDone === undefined || pagesTotal === undefined)
    return pagesDone === undefined ? undefined : counted(pagesDone, 'page')
  return `${formatNumber(pagesDone)}/${counted(pagesTotal, 'page')}`
}

/** `elapsed 1:05, about 0:40 left  9,988 requests left today, 12 spent` */
function footer(state: ProgressState, nowMs: number): string {
  const elapsedMs = nowMs - state.startedMs
  const left = leftMs(state, elapsedMs)
  const time = `elapsed ${clockTime(elapsedMs)}${left === undefined ? '' : `, about ${clockTime(left)} left`}`
  if (!state.budget) return time
  const { remainingToday, spentThisRun } = state.budget
  const today = remainingToday === undefined ? '' : `, ${formatNumber(remainingToday)} left today`
  return `${time}  ${counted(spentThisRun, 'request')}${today}`
}

/** Earlier, one slow page would make the estimate jump. */
const soonestEstimateMs = 3_000

function leftMs({ resources }: ProgressState, elapsedMs: number): number | undefined {
  const open = [...resources.values()].filter(
    ({ state }) => !['skipped', 'incomplete', 'failed'].includes(state),
  )
  const sized = open.filter(event => event.pagesTotal !== undefined)
  const isKnown = open.every(event => isFinal(event) || event.pagesTotal !== undefined)
  const total = sum(sized.map(event => event.pagesTotal))
  const done = sum(sized.map(event => (isFinal(event) ? event.pagesTotal : event.pagesDone)))
  if (!isKnown || done === 0 || done >= total || elapsedMs < soonestEstimateMs) return undefined
  return (elapsedMs * (total - done)) / done
}

function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0)
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
