/** The settings of a sandbox with their defaults. */
import type { OutgoingHttpHeaders } from 'node:http'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { isDay } from '../../lib/dates.ts'
import { UsageError } from '../../lib/errors.ts'
import type { EventOptions } from '../events/event-options.ts'
import type { FaultRates } from '../faults/faults.ts'
import { defaultKeys } from '../keys/default-keys.ts'
import type { ApiKey } from '../keys/keys.ts'
import { type ContractOptions, optionsOf } from '../options/contract-options.ts'
import type { QuirkSettings } from '../quirks/quirk-options.ts'
import type { Records } from '../world.ts'

export interface SandboxRequest {
  readonly method: string
  /** Below the base path, without the query string. */
  readonly path: string
  readonly query: Readonly<Record<string, unknown>>
  /** The bearer text, valid or not. */
  readonly key: string | undefined
  /** The user agent as sent. */
  readonly client?: string
  /** Which fault spoiled the answer. */
  readonly fault?: string
  /** Of the answer, unless a fault or an interception sent it. */
  readonly status?: number
}

/** An answer in place of the service's: raw bytes, a destroyed socket, or none. */
export type Interception =
  | { readonly status: number; readonly headers?: OutgoingHttpHeaders; readonly body: string | Buffer }
  | 'reset'
  | 'hang'
  | undefined

export interface LiveOptions {
  readonly changesPerSecond: number
  readonly seed?: number
  /** Also removes a record now and then. */
  readonly deletions?: boolean
}

export interface SandboxOptions {
  readonly seed?: number
  /** 1 is 5,000 timesheets. */
  readonly scale?: number
  /** YYYY-MM-DD; generated data ends the day before. */
  readonly today?: string
  /** 0 takes any free port. */
  readonly port?: number
  readonly host?: '127.0.0.1'
  readonly clock?: Clock
  /** The Date header of an answer, where it is not that of the clock; none where it returns nothing. */
  readonly dateHeader?: (() => string | undefined) | undefined
  /** Instead of the default keys. */
  readonly keys?: readonly ApiKey[]
  /** Readings of what the contract leaves open; each has a default. */
  readonly options?: Partial<ContractOptions>
  /** Lasting deviations from the contract, by resource or for `all`. */
  readonly quirks?: QuirkSettings
  /** Share of the answers that each fault spoils. */
  readonly faults?: FaultRates
  readonly faultSeed?: number
  /** Of keys that name no limits of their own. */
  readonly rateLimitPerMinute?: number
  readonly rateLimitPerDay?: number
  /** Changes records while they are read. */
  readonly live?: LiveOptions
  /** Webhooks, and how events are delivered to them. */
  readonly events?: EventOptions
  /** Instead of generated data; a collection left out is empty. */
  readonly records?: Records
  /** Called, and awaited, before each request is answered. */
  readonly onRequest?: (request: SandboxRequest) => void | Promise<void>
  /** Called after `onRequest`; its answer, if any, is sent before keys and limits are checked. */
  readonly intercept?: (request: SandboxRequest) => Interception | Promise<Interception>
}

const optionDefaults = {
  seed: 1,
  scale: 1,
  today: '2026-11-02',
  port: 0,
  host: '127.0.0.1',
  clock: systemClock,
  keys: defaultKeys,
  rateLimitPerMinute: 3_000,
  rateLimitPerDay: 50_000,
  quirks: {},
  faults: {},
  faultSeed: 1,
} as const satisfies SandboxOptions

export type Settings = SandboxOptions &
  Required<Pick<SandboxOptions, keyof typeof optionDefaults>> & {
    readonly options: ContractOptions
  }

export function settingsOf(given: SandboxOptions): Settings {
  const options = optionsOf(given.options)
  const settings = { ...optionDefaults, ...given, options }
  if (!isDay(settings.today)) {
    throw new UsageError({ what: `today is not a day: ${settings.today}`, next: 'write it as YYYY-MM-DD' })
  }
  if (!(settings.scale > 0)) {
    throw new UsageError({
      what: `the scale is not above 0: ${settings.scale}`,
      next: '1 is 5,000 timesheets',
    })
  }
  return settings
}
