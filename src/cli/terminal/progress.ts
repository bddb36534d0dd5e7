/** Shows the progress of a run on stderr: lines redrawn in place on a terminal, plain lines elsewhere. */
import { createLogUpdate } from 'log-update'
import { sleepUnlessAborted } from '../../lib/clock.ts'
import type { CommandContext } from '../context.ts'
import { coloured, isColoured } from './colour.ts'
import {
  atStart,
  type BudgetEvent,
  describe,
  isFinal,
  type ProgressEvent,
  renderProgress,
  withEvent,
} from './render-progress.ts'
import { escaped } from './terminal.ts'

export interface ProgressDisplay {
  update(event: ProgressEvent): void
  budget(budget: BudgetEvent): void
  /** Takes the table off the screen. Call it however the run ends; a second call does nothing. */
  stop(): void
}

type ProgressContext = Pick<CommandContext, 'clock' | 'env' | 'isTerminal' | 'stderr' | 'globals' | 'log'>

/** Ten times a second: more would flicker and load a slow connection. */
const redrawMs = 100
/** Interval of plain lines: they end up in files and mails, so there are few. */
const plainLineMs = 5_000

export function createProgress(context: ProgressContext): ProgressDisplay {
  const { globals, isTerminal } = context
  if (globals.quiet) return { update: () => {}, budget: () => {}, stop: () => {} }
  if (globals.log === 'json') return loggedProgress(context)
  return isTerminal ? liveProgress(context) : plainProgress(context)
}

/** Whether the log has a line for each result already, so that a table would repeat them. */
export const isEachLogged = ({
  globals,
  isTerminal,
}: Pick<ProgressContext, 'globals' | 'isTerminal'>): boolean =>
  !globals.quiet && (globals.log === 'json' || !isTerminal)

function liveProgress({ clock, env, stderr, globals }: ProgressContext): ProgressDisplay {
  const display = createLogUpdate(stderr.stream as NodeJS.WriteStream, { showCursor: true })
  const stopped = new AbortController()
  const hasColours = isColoured(globals.color ?? 'auto', env, true)
  let state = atStart(clock.now())
  const draw = () => {
    const lines = renderProgress(
      state,
      { width: stderr.columns ?? 80, height: stderr.stream.rows ?? 24, hasBlocks: hasBlocks(env) },
      clock.now(),
    )
    display(
      lines
        .map(escaped)
        .map(line => (hasColours ? withState(line) : line))
        .join('\n'),
    )
  }
  stderr.beforeWrite(() => display.clear())
  const keepDrawing = async () => {
    while (!stopped.signal.aborted) {
      draw()
      await sleepUnlessAborted(clock, redrawMs, stopped.signal)
    }
  }
  // The sleep is aborted by stop(), which ends the loop.
  void keepDrawing()
  return {
    update: event => {
      state = withEvent(state, event)
    },
    budget: budget => {
      state = { ...state, budget }
    },
    stop: () => {
      if (stopped.signal.aborted) return
      stopped.abort()
      // Cleared because the run's result repeats it.
      display.clear()
      display.done()
      stderr.beforeWrite()
    },
  }
}

/** Passes on the events worth a line: the end of a resource, and its progress now and then. */
function worthLines(clock: ProgressContext['clock'], write: (event: ProgressEvent) => void) {
  const shownAt = new Map<string, number>()
  let state = atStart(clock.now())
  return {
    update: (event: ProgressEvent) => {
      state = withEvent(state, event)
      const merged = state.resources.get(event.resource) ?? event
      const last = shownAt.get(event.resource) ?? state.startedMs
      const isDue = clock.now() - last >= plainLineMs
      if (event.isMinor || event.state === 'waiting' || !(isDue || isFinal(event))) return
      shownAt.set(event.resource, clock.now())
      write(merged)
    },
    budget: (budget: BudgetEvent) => {
      state = { ...state, budget }
    },
  }
}

function plainProgress({ clock, stderr }: ProgressContext): ProgressDisplay {
  const time = (): string => new Date(clock.now()).toISOString().replace(/\.\d+/, '')
  const lines = worthLines(clock, event => stderr.write(`${time()}  ${event.resource}  ${describe(event)}\n`))
  return { ...lines, stop: () => {} }
}

function loggedProgress({ clock, log }: ProgressContext): ProgressDisplay {
  const lines = worthLines(clock, ({ isMinor, ...event }) => log.info(event, 'progress'))
  return { ...lines, stop: () => {} }
}

/** Consoles without UTF-8 cannot show block characters. */
function hasBlocks({ LC_ALL, LC_CTYPE, LANG, TERM }: ProgressContext['env']): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG
  return TERM !== 'linux' && (locale === undefined || !/^(C|POSIX)$/.test(locale))
}

/** Colours only the state, the word after the resource's name. */
const withState = (line: string): string =>
  line.replace(/^(\S+ {2,})([a-z]+)\b/, (_, name: string, word: string) => `${name}${coloured(word)}`)
