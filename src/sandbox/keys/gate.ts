/** Between the wire and the endpoints: key, rate limit and access, in the order the service checks them. */
import type { EndpointRequest } from '../declare/endpoint.ts'
import { type Shuffle, shuffler } from '../records/ties.ts'
import { ApiError } from '../refusals/api-error.ts'
import type { Settings } from '../server/settings.ts'
import type { World } from '../world.ts'
import { checkAccess, type EndpointPath, type WritePath } from './access.ts'
import { type ApiKey, authenticate } from './keys.ts'
import { RateLimiter } from './rate-limit.ts'
import { retryAfter } from './retry-after.ts'

export interface Visit {
  readonly authorization: string | undefined
  readonly address: string
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
}

export class Gate {
  private readonly settings: Settings
  private readonly world: World
  private readonly limiter: RateLimiter
  private readonly lastUse = new Map<string, string>()
  private readonly shuffle: Shuffle | undefined

  constructor(settings: Settings, world: World) {
    this.settings = settings
    this.world = world
    this.limiter = new RateLimiter(settings.options['rate-window'])
    this.shuffle = settings.options.ties === 'random' ? shuffler(settings.seed) : undefined
  }

  /** Passes the visit on, or throws the ApiError it meets first: 401 or IP, 429, 403, then the endpoint's own. */
  admit(endpoint: { readonly path: EndpointPath | WritePath }, visit: Visit): EndpointRequest {
    const nowMs = this.settings.clock.now()
    const key = authenticate(this.settings.keys, { ...visit, nowMs })
    const limits = this.limitsOf(key)
    const waitMs = this.limiter.take(key.key, limits, nowMs)
    if (waitMs !== undefined) throw this.refusal(nowMs, waitMs)
    const lastUsedAt = this.lastUse.get(key.key)
    this.lastUse.set(key.key, new Date(nowMs).toISOString())
    checkAccess(key, endpoint.path)
    return {
      key,
      world: this.world,
      options: this.settings.options,
      params: visit.params,
      query: visit.query,
      limits,
      usage: this.limiter.usage(key.key, limits, nowMs),
      ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
      ...(this.shuffle ? { shuffle: this.shuffle } : {}),
    }
  }

  private limitsOf(key: ApiKey) {
    return {
      perMinute: key.rateLimitPerMinute ?? this.settings.rateLimitPerMinute,
      perDay: key.rateLimitPerDay ?? this.settings.rateLimitPerDay,
    }
  }

  private refusal(nowMs: number, waitMs: number): ApiError {
    const headers = retryAfter(this.settings.options['retry-after'], nowMs, waitMs)
    return new ApiError(429, 'rate limit exceeded', headers)
  }
}
