/** A sandbox for one test file, with a client that reads JSON. */
import { expect } from 'vitest'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { ViolationKind } from '../../src/sandbox/refusals.ts'
import type { Violation } from '../../src/sandbox/server/contract-checker.ts'
import {
  type FaultyOptions,
  type FaultySandbox,
  startFaultySandbox,
  startHonestSandbox,
} from '../fault-layer/start.ts'
import { atEndOfFile } from '../support/ends.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
export type Body = any

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

export interface OpenSandbox extends FaultySandbox {
  get(path: string, key?: string): Promise<Answer>
  send(method: string, path: string): Promise<Answer>
}

/** With `quirks`, `faults` or `intercept`, empty or not, the sandbox is behind the layer of faults. */
export interface OpenOptions extends FaultyOptions {
  /** The test breaks the contract on purpose, with requests of its own; those of Muster must keep it all the same. */
  readonly provokesViolations?: boolean
  /** Muster is given a wrong address on purpose: that its paths do not exist there is no mistake of its own. */
  readonly misdirects?: boolean
  /** Violations that the test has Muster commit on purpose, by giving it a wrong key or wrong values. */
  readonly provokesByMuster?: readonly ViolationKind[]
}

/** The clock of the command or run under way in this process: unless a test says otherwise, it is that of the service too. */
let followed: Clock | undefined

export async function withServiceAt<Result>(clock: Clock, work: () => Promise<Result>): Promise<Result> {
  const before = followed
  followed = clock
  try {
    return await work()
  } finally {
    followed = before
  }
}

/** The day of the recordings and golden files, whatever the clock of a test. */
const today = '2026-11-02'

const open: FaultySandbox[] = []

atEndOfFile(() => Promise.all(open.splice(0).map(sandbox => sandbox.close())))

async function start(options: FaultyOptions): Promise<FaultySandbox> {
  if (options.quirks || options.faults || options.intercept) return startFaultySandbox(options)
  const honest = await startHonestSandbox(options)
  const refuse = (): never => {
    throw new Error('open the sandbox with quirks: {} or faults: {}')
  }
  return { ...honest, setQuirks: refuse, faults: { stop: refuse, resume: refuse } }
}

/** A sandbox that is closed after the file's tests, and fails them when a request broke the contract unasked. */
export async function keptSandbox(options: OpenOptions = {}): Promise<FaultySandbox> {
  const { provokesViolations = false, misdirects = false, provokesByMuster = [], ...rest } = options
  const isAllowed = ({ kind, client }: Violation): boolean =>
    client?.startsWith('muster/')
      ? provokesByMuster.includes(kind) || (misdirects && kind === 'unknown-path')
      : provokesViolations
  const dateHeader = () => new Date((followed ?? rest.clock ?? systemClock).now()).toUTCString()
  const started = await start({ today, ...(rest.clock === undefined && { dateHeader }), ...rest })
  const sandbox = {
    ...started,
    close: async () => {
      await started.close()
      expect(started.violations().filter(violation => !isAllowed(violation))).toEqual([])
    },
  }
  open.push(sandbox)
  return sandbox
}

export async function openSandbox(options: OpenOptions = {}): Promise<OpenSandbox> {
  const sandbox = await keptSandbox({ rateLimitPerMinute: 100_000, ...options })
  const send = async (method: string, path: string, key = sandboxKeys.company): Promise<Answer> => {
    const response = await fetch(sandbox.url + path, { method, headers: { authorization: `Bearer ${key}` } })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  return { ...sandbox, get: (path, key) => send('GET', path, key), send }
}

export function sortedBy<T>(
  rows: readonly T[],
  keyOf: (row: T) => string | number,
  order: 'asc' | 'desc',
): boolean {
  return rows.every((row, index) => {
    const before = rows[index - 1]
    if (before === undefined) return true
    return order === 'asc' ? keyOf(before) <= keyOf(row) : keyOf(before) >= keyOf(row)
  })
}
