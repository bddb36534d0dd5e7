/** Admits a request to an endpoint: key, rate limit and access, in the order the service checks them. */
import { dayMs, minuteMs } from '../../lib/dates.ts'
import type { Endpoint, EndpointRequest, KeyDayUsage, RateLimits } from '../declare/endpoint.ts'
import { type ApiKey, authenticate, checkAccess } from '../keys/keys.ts'
import type { ContractOptions } from '../options.ts'
import { ApiError } from '../refusals.ts'
import { type Shuffle, shuffler } from '../sorted-order.ts'
import type { World } from '../world.ts'
import type { Desk } from '../writes/worker-book.ts'
import type { SandboxSettings } from './settings.ts'

interface RequestCount {
  day: number
  today: number
  /** Times of the counted requests that may still be within the minute. */
  recent: number[]
}

class RateLimiter {
  readonly #window: ContractOptions['rate-window']
  readonly #counts = new Map<string, RequestCount>()

  constructor(window: ContractOptions['rate-window']) {
    this.#window = window
  }

  /** Counts the request, or returns the milliseconds to wait. */
  take(key: string, limits: RateLimits, nowMs: number): number | undefined {
    const count = this.#countAt(key, nowMs)
    if (count.today >= limits.perDay) return (count.day + 1) * dayMs - nowMs
    const windowStart =
      this.#window === 'fixed' ? Math.floor(nowMs / minuteMs) * minuteMs : nowMs - minuteMs + 1
    count.recent = count.recent.filter(time => time >= windowStart)
    if (count.recent.length >= limits.perMinute) {
      const leaver = count.recent[count.recent.length - limits.perMinute] ?? nowMs
      return (this.#window === 'fixed' ? windowStart : leaver) + minuteMs - nowMs
    }
    count.recent.push(nowMs)
    count.today += 1
    return undefined
  }

  usage(key: string, limits: RateLimits, nowMs: number): KeyDayUsage {
    const count = this.#countAt(key, nowMs)
    return {
      requestsToday: count.today,
      remainingToday: Math.max(0, limits.perDay - count.today),
      resetsAt: new Date((count.day + 1) * dayMs).toISOString(),
    }
  }

  #countAt(key: string, nowMs: number): RequestCount {
    const day = Math.floor(nowMs / dayMs)
    const known = this.#counts.get(key)
    if (known?.day === day) return known
    const count = { day, today: 0, recent: known?.recent ?? [] }
    this.#counts.set(key, count)
    return count
  }
}

interface IncomingRequest {
  readonly authorization: string | undefined
  readonly address: string
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
}

export type AdmittedRequest = Omit<EndpointRequest, 'body'>

export class RequestGate {
  readonly #settings: SandboxSettings
  readonly #world: World
  readonly #desk: Desk
  readonly #limiter: RateLimiter
  readonly #lastUse = new Map<string, string>()
  readonly #shuffle: Shuffle

  constructor(settings: SandboxSettings, world: World, desk: Desk) {
    this.#settings = settings
    this.#world = world
    this.#desk = desk
    this.#limiter = new RateLimiter(settings.options['rate-window'])
    this.#shuffle = shuffler(settings.seed)
  }

  /** Throws the ApiError that the request meets first: 401 or IP, 429, 403. */
  admit(endpoint: Endpoint, { params, query, ...caller }: IncomingRequest): AdmittedRequest {
    const { options, keys, clock } = this.#settings
    const nowMs = clock.now()
    const key = authenticate(keys, { ...caller, nowMs })
    const limits = this.#limitsOf(key)
    const waitMs = this.#limiter.take(key.key, limits, nowMs)
    if (waitMs !== undefined) {
      throw new ApiError(429, 'rate limit exceeded', retryAfter(options['retry-after'], nowMs, waitMs))
    }
    const lastUsedAt = this.#lastUse.get(key.key)
    this.#lastUse.set(key.key, new Date(nowMs).toISOString())
    checkAccess(key, endpoint)
    return {
      key,
      world: this.#world,
      desk: this.#desk,
      options,
      params,
      query,
      nowMs,
      limits,
      usage: this.#limiter.usage(key.key, limits, nowMs),
      ...(lastUsedAt !== undefined && { lastUsedAt }),
      ...(options.ties === 'random' && { shuffle: this.#shuffle }),
    }
  }

  #limitsOf(key: ApiKey) {
    return {
      perMinute: key.rateLimitPerMinute ?? this.#settings.rateLimitPerMinute,
      perDay: key.rateLimitPerDay ?? this.#settings.rateLimitPerDay,
    }
  }
}

/** Rounded up, so that a client that waits this long is not refused again. A date has full seconds too. */
function retryAfter(
  form: ContractOptions['retry-after'],
  nowMs: number,
  waitMs: number,
): Record<string, string> {
  if (form === 'absent') return {}
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const at = new Date(Math.ceil((nowMs + waitMs) / 1000) * 1000).toUTCString()
  return { 'retry-after': form === 'date' ? at : String(seconds) }
}
