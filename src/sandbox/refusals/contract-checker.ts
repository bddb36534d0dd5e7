/** The contract checker: it counts the requests that break the contract, from whatever client. */
import type { Clock } from '../../lib/clock.ts'
import { minuteMs } from '../../lib/dates.ts'
import type { SandboxRequest } from '../server/settings.ts'
import { ApiError, Declined } from './api-error.ts'
import { ParameterError, type ViolationKind } from './violations.ts'

export interface Violation extends SandboxRequest {
  readonly kind: ViolationKind
  readonly message: string
}

/** A sandbox left running stops counting here. */
const mostViolations = 200_000

/** For this long after a 429 another request of the key may have been under way already. */
const underWayMs = 250

interface Refusal {
  readonly at: number
  readonly until: number
  readonly request: string
}

const byStatus: Readonly<Record<number, ViolationKind>> = {
  400: 'bad-request',
  405: 'method',
  413: 'too-large',
  429: 'over-limit',
}

export class ContractChecker {
  readonly #clock: Clock
  readonly #found: Violation[] = []
  readonly #refusals = new Map<string, Refusal>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  violations(): readonly Violation[] {
    return this.#found
  }

  /** `detail` must not hold a key or a token: it is printed. */
  report(kind: ViolationKind, detail: string, request: SandboxRequest): void {
    if (this.#found.length < mostViolations) this.#found.push({ ...request, kind, message: detail })
  }

  /** Reports a request of a key that was told to wait. The refused request, sent again, was not under way before. */
  arrived(request: SandboxRequest): void {
    const refusal = this.#refusals.get(request.key ?? '')
    const now = this.#clock.now()
    if (!refusal || now >= refusal.until) return
    if (now < refusal.at + underWayMs && refusal.request !== lineOf(request)) return
    const message = `told to wait another ${refusal.until - now} ms`
    this.report('told-to-wait', message, request)
  }

  /** Notes a 429. The key must wait as `Retry-After` says, or without it until the next minute of the clock. */
  refused(request: SandboxRequest, retryAfter: string | undefined): void {
    const at = this.#clock.now()
    const until = toldUntil(retryAfter, at) ?? (Math.floor(at / minuteMs) + 1) * minuteMs
    this.#refusals.set(request.key ?? '', { at, until, request: lineOf(request) })
  }

  /** Reports the violation that a refusal of the service shows. */
  judge(request: SandboxRequest, error: unknown): void {
    if (error instanceof ParameterError) {
      for (const { kind, reason } of error.violations) this.report(kind, reason, request)
      return
    }
    const kind = error instanceof ApiError ? kindOf(request, error) : undefined
    if (kind) this.report(kind, (error as ApiError).message, request)
  }
}

function kindOf(request: SandboxRequest, error: ApiError): ViolationKind | undefined {
  if (error instanceof Declined) return undefined
  if (error.status === 401) return request.key === undefined ? 'key-missing' : undefined
  if (error.status === 403) return isScopeOfWrite(request, error) ? 'scope' : undefined
  return byStatus[error.status]
}

function isScopeOfWrite({ method }: SandboxRequest, { message }: ApiError): boolean {
  return method !== 'GET' && /\bscope\b/.test(message)
}

function toldUntil(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined
  return /^\d+$/.test(retryAfter) ? now + Number(retryAfter) * 1000 : Date.parse(retryAfter)
}

function lineOf({ method, path, query }: SandboxRequest): string {
  return JSON.stringify([method, path, query])
}
