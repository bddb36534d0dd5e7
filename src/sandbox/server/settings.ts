/** Defines the settings of a sandbox and their defaults. */
import { type Clock, systemClock } from '../../lib/clock.ts'
import { isDay, utcDay } from '../../lib/dates.ts'
import { UsageError } from '../../lib/errors.ts'
import type { EventOptions } from '../events/webhook.ts'
import { defaultKeys } from '../keys/default-keys.ts'
import type { ApiKey } from '../keys/keys.ts'
import { type ContractOptions, optionsOf } from '../options.ts'
import type { WorldRecords } from '../world.ts'

export interface SandboxRequest {
  readonly method: string
  /** Below the base path, without the query string. */
  readonly path: string
  readonly query: Readonly<Record<string, unknown>>
  /** The bearer text, valid or not. */
  readonly key: string | undefined
  /** The user agent as sent. */
  readonly client?: string
  /** Status of the answer, once it was sent. */
  readonly status?: number
}

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
  /** YYYY-MM-DD; generated data ends the day before. Today by the clock unless given. */
  readonly today?: string
  /** 0 takes any free port. */
  readonly port?: number
  readonly clock?: Clock
  /** Replaces the Date header that the clock gives; undefined sends no Date header. */
  readonly dateHeader?: (() => string | undefined) | undefined
  /** Instead of the default keys. */
  readonly keys?: readonly ApiKey[]
  /** How to read points that the contract leaves open; each has a default. */
  readonly options?: Partial<ContractOptions>
  /** For keys without limits of their own. */
  readonly rateLimitPerMinute?: number
  readonly rateLimitPerDay?: number
  /** Changes records while they are read. */
  readonly live?: LiveOptions
  /** Webhooks, and how events are delivered to them. */
  readonly events?: EventOptions
  /** Instead of generated data; a collection left out is empty. */
  readonly records?: WorldRecords
  /** Called, and awaited, before each request is answered. */
  readonly onRequest?: (request: SandboxRequest) => void | Promise<void>
}

const optionDefaults = {
  seed: 1,
  scale: 1,
  port: 0,
  clock: systemClock,
  keys: defaultKeys,
  rateLimitPerMinute: 3_000,
  rateLimitPerDay: 50_000,
} as const satisfies SandboxOptions

export type SandboxSettings = SandboxOptions &
  Required<Pick<SandboxOptions, keyof typeof optionDefaults | 'today'>> & {
    readonly options: ContractOptions
  }

export function settingsOf(given: SandboxOptions): SandboxSettings {
  const options = optionsOf(given.options)
  const today = utcDay((given.clock ?? systemClock).now())
  const settings = { ...optionDefaults, today, ...given, options }
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
