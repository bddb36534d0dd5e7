/** The journeys of docs/architecture.md name the files whose functions the built program calls for them. */
import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { eventBody, post, SECRET, signed } from '../serve/served.ts'
import { type Built, start } from '../support/built-program.ts'
import { templateFile } from '../support/warehouse-fixture.ts'
import { type CallCounts, callCounts, calledMore } from './call-counts.ts'
import { type Journey, journeys, passedByAll } from './journeys.ts'

/** Two processes that differ in a list of one page, an id, an event, a mart to rebuild, or a command instead of its help. */
interface Compared {
  readonly with: CallCounts
  readonly without: CallCounts
}

/** A folder with a new warehouse, where commands run. */
class Place {
  readonly cwd = mkdtempSync(join(tmpdir(), 'muster-journey-'))
  readonly #url: string

  private constructor({ url }: Sandbox) {
    this.#url = url
  }

  static async open(sandbox: Sandbox): Promise<Place> {
    const place = new Place(sandbox)
    copyFileSync(await templateFile(), join(place.cwd, 'w.duckdb'))
    return place
  }

  /** Calls of the whole process; `use` has it while it runs. */
  async calls(line: string, use?: (running: Built) => Promise<void>): Promise<CallCounts> {
    const coverage = mkdtempSync(join(tmpdir(), 'muster-coverage-'))
    const env = {
      MUSTER_BASE_URL: this.#url,
      MUSTER_API_KEY: sandboxKeys.company,
      MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
      MUSTER_WEBHOOK_SECRET: SECRET,
      NODE_V8_COVERAGE: coverage,
    }
    const running = start(line, { cwd: this.cwd, env })
    await use?.(running)
    const { code, err } = await running.ended
    expect([line, code, err]).toEqual([line, 0, err])
    return callCounts(coverage)
  }
}

const idOfRequisition = (sandbox: Sandbox): string => String(sandbox.world.all('requisitions')[0]?.id)

async function record(sandbox: Sandbox): Promise<Compared> {
  const place = await Place.open(sandbox)
  const without = await place.calls('sync requisitions')
  writeFileSync(join(place.cwd, 'ids.txt'), idOfRequisition(sandbox))
  await place.calls('discover requisitions ids.txt')
  return { with: await place.calls('sync requisitions'), without }
}

const serving = 'serve --no-schedule --port 0 --json'

const until = (isSo: () => boolean): Promise<void> =>
  vi.waitFor(() => expect(isSo()).toBe(true), { timeout: 60_000 })

async function ready(running: Built): Promise<string> {
  await until(() => running.out().includes('"url"'))
  const { url } = JSON.parse(running.out())
  // Answered by the warehouse after it was asked for its time, with which the server begins.
  await fetch(new URL('/metrics', url))
  return url
}

async function undelivered(sandbox: Sandbox): Promise<CallCounts> {
  const place = await Place.open(sandbox)
  return place.calls(serving, async running => {
    await ready(running)
    running.signal('SIGTERM')
  })
}

async function delivered(sandbox: Sandbox): Promise<CallCounts> {
  const place = await Place.open(sandbox)
  return place.calls(serving, async running => {
    const url = await ready(running)
    const about = { requisition: { id: idOfRequisition(sandbox) } }
    expect(await post(url, signed(eventBody('evt_1', 'requisition_created', about)))).toBe(202)
    await until(() => running.err().includes('read what events asked for'))
    running.signal('SIGTERM')
  })
}

/** The second build finds the mart up to date. */
async function inOnePlace(sandbox: Sandbox) {
  const place = await Place.open(sandbox)
  return {
    list: await place.calls('sync timesheets'),
    mart: {
      with: await place.calls('build timesheet_cycle'),
      without: await place.calls('build timesheet_cycle'),
    },
    command: { with: await place.calls('status'), without: await place.calls('status --help') },
  }
}

let compared: Readonly<Record<string, Compared>> = {}

beforeAll(async () => {
  const sandbox = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })
  const [byId, event, noEvent, { list, mart, command }] = await Promise.all([
    record(sandbox),
    delivered(sandbox),
    undelivered(sandbox),
    inOnePlace(sandbox),
  ])
  compared = {
    'A page of timesheets': { with: list, without: byId.without },
    'A record by id': byId,
    'A webhook': { with: event, without: noEvent },
    'A mart': mart,
    'A command': command,
  }
})

const isIn = (paths: readonly string[], file: string): boolean =>
  paths.some(path => (path.endsWith('/') ? file.startsWith(path) : file === path))

const filesOf = ({ steps }: Journey): string[] => steps.map(({ file }) => file)

/** Files of the journeys that it continues as, and of those that these continue as. */
const filesElsewhere = ({ continuesAs }: Journey): string[] =>
  journeys
    .filter(({ title }) => continuesAs.includes(title))
    .flatMap(other => [...filesOf(other), ...filesElsewhere(other)])

const missing = 'give these files a line in this journey of docs/architecture.md'
const surplus = 'take these files out of it: none of their functions is called'

test.each(journeys)('$title names the files that it passes', journey => {
  const { with: calls, without: others } = compared[journey.title] as Compared
  const named = filesOf(journey)
  const known = [...passedByAll, ...named, ...filesElsewhere(journey)]
  expect({
    [missing]: calledMore(calls, others).filter(file => !isIn(known, file)),
    [surplus]: named.filter(file => !calls.has(file)),
  }).toEqual({ [missing]: [], [surplus]: [] })
})

test('every journey passes what the page says that all of them pass', () => {
  expect(passedByAll).not.toEqual([])
  const unpassed = Object.entries(compared).flatMap(([title, { with: calls }]) =>
    passedByAll
      .filter(path => ![...calls.keys()].some(file => isIn([path], file)))
      .map(path => `${path} in ${title}`),
  )
  expect(unpassed).toEqual([])
})
