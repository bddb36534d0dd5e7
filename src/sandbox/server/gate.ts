/** Admits a request to an endpoint: key, rate limit and access, in the order the service checks them. */
import type { Endpoint, EndpointRequest } from '../declare/endpoint.ts'
import { checkAccess } from '../keys/access.ts'
import { type ApiKey, authenticate } from '../keys/keys.ts'
import type { ContractOptions } from '../options/contract-options.ts'
import { type Shuffle, shuffler } from '../records/ties.ts'
import { ApiError } from '../refusals/api-error.ts'
import type { World } from '../world.ts'
import type { Desk } from '../writes/desk.ts'
import { RateLimiter } from './rate-limit.ts'
import type { Settings } from './settings.ts'

export interface IncomingRequest {
  readonly authorization: string | undefined
  readonly address: string
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
}

export type Admitted = Omit<EndpointRequest, 'body'>

export class Gate {
  readonly #settings: Settings
  readonly #world: World
  readonly #desk: Desk
  readonly #limiter: RateLimiter
  readonly #lastUse = new Map<string, string>()
  readonly #shuffle: Shuffle

  constructor(settings: Settings, world: World, desk: Desk) {
    this.#settings = settings
    this.#world = world
    this.#desk = desk
    this.#limiter = new RateLimiter(settings.options['rate-window'])
    this.#shuffle = shuffler(settings.seed)
  }

  /** Throws the ApiError that the request meets first: 401 or IP, 429, 403. */
  admit(endpoint: Endpoint, { params, query, ...caller }: IncomingRequest): Admitted {
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
      ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
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

/** Rounded up: a client that waits as told is not refused again. A date has whole seconds too. */
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
