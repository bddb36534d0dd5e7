/** Progress: the lines that are drawn, how often they are written, and where. */
import { describe, expect, test } from 'vitest'
import { createContext } from '../../src/cli/context.ts'
import { createProgress } from '../../src/cli/terminal/progress.ts'
import {
  atStart,
  type ProgressEvent,
  type ProgressState,
  renderProgress,
  withEvent,
} from '../../src/cli/terminal/render-progress.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { captured, stillClock } from '../support/captured-world.ts'

function stateOf(events: readonly ProgressEvent[], rest: Partial<ProgressState> = {}): ProgressState {
  const start: ProgressState = { ...atStart(0), ...rest }
  return events.reduce(withEvent, start)
}

describe('renderProgress', () => {
  test('shows one line a resource, and a footer with time and budget', () => {
    const state = stateOf(
      [
        {
          resource: 'timesheets',
          state: 'scanning',
          pagesDone: 12,
          pagesTotal: 48,
          rows: 2400,
          changed: 31,
          requests: 12,
        },
        {
          resource: 'expenses',
          state: 'done',
          pagesDone: 2,
          pagesTotal: 2,
          rows: 210,
          changed: 0,
          requests: 2,
        },
        { resource: 'invoices', state: 'skipped', note: 'not in scope' },
        { resource: 'sites', state: 'failed', note: '403 Forbidden' },
      ],
      {
        budget: { remainingToday: 9988, spentThisRun: 14 },
      },
    )
    expect(renderProgress(state, { width: 100, height: 24 }, 65_000)).toEqual([
      'timesheets  scanning  ███░░░░░░░░░  12/48 pages  2,400 rows  31 changed  12 requests',
      'expenses    done      ████████████  2/2 pages  210 rows  0 changed  2 requests',
      'invoices    skipped                 not in scope',
      'sites       failed                  403 Forbidden',
      'elapsed 1:05, about 2:47 left  40 rows a second  14 requests, 9,988 left today',
    ])
  })

  test('keeps what an event leaves out', () => {
    const state = stateOf([
      { resource: 'users', state: 'scanning', rows: 5, pagesDone: 1 },
      { resource: 'users', state: 'loading' },
    ])
    expect(renderProgress(state, { width: 100, height: 24 }, 0)[0]).toBe('users  loading   1 page  5 rows')
  })

  test.each([
    ['a total is unknown', [{ resource: 'a', state: 'scanning', pagesDone: 5 }], 60_000],
    [
      'one resource has not begun',
      [
        { resource: 'a', state: 'scanning', pagesDone: 5, pagesTotal: 10 },
        { resource: 'b', state: 'waiting' },
      ],
      60_000,
    ],
    ['it has only begun', [{ resource: 'a', state: 'scanning', pagesDone: 1, pagesTotal: 10 }], 2_000],
    ['nothing was read', [{ resource: 'a', state: 'scanning', pagesDone: 0, pagesTotal: 10 }], 60_000],
    ['all pages are read', [{ resource: 'a', state: 'loading', pagesDone: 10, pagesTotal: 10 }], 60_000],
  ] satisfies [string, ProgressEvent[], number][])('gives no estimate while %s', (_, events, nowMs) => {
    expect(renderProgress(stateOf(events), { width: 100, height: 24 }, nowMs).at(-1)).not.toContain('left')
  })

  test('cuts lines at the width of the terminal', () => {
    const state = stateOf([
      { resource: 'timesheets', state: 'scanning', rows: 1_000_000, note: 'x'.repeat(80) },
    ])
    const lines = renderProgress(state, { width: 30, height: 24 }, 3_723_000)
    expect(lines[0]).toBe('timesheets  scanning  1,000,0…')
    expect(lines[1]).toBe('elapsed 1:02:03  269 rows a s…')
  })
})

test('bars are drawn with signs where there are no blocks, and narrower on a narrow terminal', () => {
  const state = stateOf([{ resource: 'a', state: 'scanning', pagesDone: 1, pagesTotal: 2 }])
  expect(renderProgress(state, { width: 60, height: 24, hasBlocks: false }, 0)[0]).toBe(
    'a  scanning  ###---  1/2 pages',
  )
})

test('records by id are as far as their requests', () => {
  const state = stateOf([
    { resource: 'rates', state: 'waiting', pagesTotal: 40 },
    { resource: 'rates', state: 'loading', requests: 20, rows: 20 },
  ])
  expect(renderProgress(state, { width: 100, height: 24 }, 0)[0]).toBe(
    'rates  loading   ██████░░░░░░  20 rows  20 requests',
  )
})

function contextOf(parts: Parameters<typeof captured>[0], globals = {}) {
  const { world, err } = captured(parts)
  const program = {
    commandNames: [],
    set: { commands: {}, groups: {} },
    invoke: async () => ({ status: 0 }) as const,
    refusal: async () => undefined,
  }
  return { context: createContext({ world, globals, program }), err }
}

describe('plain progress', () => {
  test('writes at most one line each five seconds a resource, and every final one', () => {
    const clock = stillClock()
    const { context, err } = contextOf({ clock })
    const progress = createProgress(context)
    progress.update({ resource: 'sites', state: 'waiting' })
    for (let page = 1; page <= 60; page++) {
      progress.update({ resource: 'sites', state: 'scanning', pagesDone: page, pagesTotal: 60 })
      clock.move(200)
    }
    progress.update({ resource: 'sites', state: 'done' })
    progress.budget({ remainingToday: 940, spentThisRun: 60 })
    progress.stop()
    progress.stop()
    expect(err().trim().split('\n')).toEqual([
      '2026-01-01T00:00:05Z  sites  scanning  26/60 pages',
      '2026-01-01T00:00:10Z  sites  scanning  51/60 pages',
      '2026-01-01T00:00:12Z  sites  done      60/60 pages',
    ])
  })

  test('is a JSON line an event with --log json, and the same events', () => {
    const clock = stillClock()
    const { context, err } = contextOf({ clock }, { log: 'json' })
    const progress = createProgress(context)
    progress.update({ resource: 'sites', state: 'scanning', pagesDone: 1, pagesTotal: 2 })
    progress.update({ resource: 'sites', state: 'done', rows: 7 })
    progress.stop()
    context.notice('a sentence')
    const lines = err()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines).toMatchObject([
      { level: 'info', time: '2026-01-01T00:00:00.000Z', resource: 'sites', state: 'done', rows: 7 },
      { level: 'info', msg: 'a sentence' },
    ])
  })

  test('is silent under --quiet', () => {
    const { context, err } = contextOf({}, { quiet: true })
    const progress = createProgress(context)
    progress.update({ resource: 'sites', state: 'done' })
    progress.stop()
    expect(err()).toBe('')
  })
})

describe('progress on a terminal', () => {
  const draw = async (env: Record<string, string>) => {
    const written: string[] = []
    const stderr = { write: (text: string) => written.push(text), isTTY: true, columns: 80, on: () => {} }
    const { context } = contextOf({ env, stderr, clock: systemClock })
    const progress = createProgress(context)
    for (let row = 0; row < 1000; row++) progress.update({ resource: 'sites', state: 'scanning', rows: row })
    await systemClock.sleep(250)
    context.stderr.write('a line that stays\n')
    progress.update({ resource: 'sites', state: 'done' })
    progress.stop()
    progress.stop()
    return { text: written.join(''), draws: written.filter(text => text.includes('999 rows')).length }
  }

  test('is redrawn ten times a second at most, whatever happens', async () => {
    const { text, draws } = await draw({ NO_COLOR: '1' })
    expect(draws).toBeGreaterThan(0)
    expect(draws).toBeLessThan(6)
    expect(text).toContain('a line that stays\n')
    expect(text).not.toContain('\u001b[32m')
  })

  test('is no higher than the screen: what does not fit is counted', () => {
    const events = Array.from({ length: 30 }, (_, index) => ({
      resource: `r${index}`,
      state: index < 12 ? ('done' as const) : index < 14 ? ('scanning' as const) : ('waiting' as const),
    }))
    const lines = renderProgress(stateOf(events), { width: 80, height: 10 }, 0)
    expect(lines).toHaveLength(9)
    expect(lines.slice(0, 2)).toEqual(['r12  scanning', 'r13  scanning'])
    expect(lines.at(-2)).toBe('and 12 that ended, 11 that wait')
  })

  test('leaves nothing on the screen, as the result shows it again', async () => {
    expect((await draw({})).text.split('a line that stays').at(-1)).not.toContain('sites')
  })

  test('is coloured unless NO_COLOR says otherwise', async () => {
    expect((await draw({})).text).toContain('sites  \u001b[36mscanning\u001b[0m')
  })
})
