/** Shows the progress of a run on stderr: lines redrawn in place on a terminal, plain lines elsewhere. */
import { createLogUpdate } from 'log-update'
import { sleepUnlessAborted } from '../../lib/clock.ts'
import type { CommandContext } from '../context.ts'
import { coloured, isColoured } from './colour.ts'
import {
  type BudgetEvent,
  describe,
  isFinal,
  type ProgressEvent,
  type ProgressState,
  renderProgress,
  withEvent,
} from './render-progress.ts'
import { escaped } from './terminal.ts'

export interface Progress {
  update(event: ProgressEvent): void
  budget(budget: BudgetEvent): void
  /** Takes the table off the screen. Call it however the run ends; a second call does nothing. */
  stop(): void
}

type ProgressContext = Pick<CommandContext, 'clock' | 'env' | 'isTerminal' | 'stderr' | 'globals'>

/** Ten times a second: more would flicker and load a slow connection. */
const redrawMs = 100
/** Plain lines go into files and mails, so they are few. */
const plainLineMs = 5_000

export function createProgress(context: ProgressContext): Progress {
  if (context.globals.quiet) return { update: () => {}, budget: () => {}, stop: () => {} }
  return context.isTerminal ? liveProgress(context) : plainProgress(context)
}

function liveProgress({ clock, env, stderr, globals }: ProgressContext): Progress {
  const display = createLogUpdate(stderr.stream as NodeJS.WriteStream, { showCursor: true })
  const stopped = new AbortController()
  const hasColours = isColoured(globals.color ?? 'auto', env, true)
  let state: ProgressState = { startedMs: clock.now(), resources: new Map() }
  const draw = () => {
    const lines = renderProgress(
      state,
      { width: stderr.columns ?? 80, height: stderr.stream.rows ?? 24 },
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
      // The result of the run says the same once more.
      display.clear()
      display.done()
      stderr.beforeWrite()
    },
  }
}

function plainProgress({ clock, stderr }: ProgressContext): Progress {
  const shownAt = new Map<string, number>()
  let state: ProgressState = { startedMs: clock.now(), resources: new Map() }
  let isStopped = false
  return {
    update: event => {
      state = withEvent(state, event)
      const merged = state.resources.get(event.resource) ?? event
      const last = shownAt.get(event.resource)
      const isDue = last === undefined || clock.now() - last >= plainLineMs
      if (event.state === 'waiting' || !(isDue || isFinal(event))) return
      shownAt.set(event.resource, clock.now())
      stderr.write(`${event.resource}  ${describe(merged)}\n`)
    },
    budget: budget => {
      state = { ...state, budget }
    },
    stop: () => {
      if (isStopped) return
      isStopped = true
      const footer = renderProgress(
        { ...state, resources: new Map() },
        { width: 200, height: 200 },
        clock.now(),
      )
      stderr.write(`${footer.join('\n')}\n`)
    },
  }
}

/** Only the state is coloured: it stands alone after the name of the resource. */
const withState = (line: string): string =>
  line.replace(/^(\S+ {2,})([a-z]+)\b/, (_, name: string, word: string) => `${name}${coloured(word)}`)
