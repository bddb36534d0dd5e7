/** Counts the requests that break the contract, from any client. */
import type { Clock } from '../../lib/clock.ts'
import { minuteMs } from '../../lib/dates.ts'
import { ApiError, ParameterError, RequestDeclined, type ViolationKind } from '../refusals.ts'
import type { SandboxRequest } from './settings.ts'

export interface Violation extends SandboxRequest {
  readonly kind: ViolationKind
  readonly message: string
}

/** A sandbox left running stops counting here. */
const maxViolations = 200_000

/** For this long after a 429, another request of the key may have been on its way already. */
const underWayMs = 250

interface RefusalPeriod {
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
  readonly #refusals = new Map<string, RefusalPeriod>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  violations(): readonly Violation[] {
    return this.#found
  }

  /** `detail` must not contain a key or a token, because it is printed. */
  report(kind: ViolationKind, detail: string, request: SandboxRequest): void {
    if (this.#found.length < maxViolations) this.#found.push({ ...request, kind, message: detail })
  }

  /** Reports a request of a key that has to wait. At first only a repeated one counts: others may have been on their way. */
  arrived(request: SandboxRequest): void {
    const refusal = this.#refusals.get(request.key ?? '')
    const now = this.#clock.now()
    if (!refusal || now >= refusal.until) return
    if (now < refusal.at + underWayMs && refusal.request !== lineOf(request)) return
    const message = `the key has to wait another ${refusal.until - now} ms`
    this.report('told-to-wait', message, request)
  }

  /** Records a 429. The key must wait as `Retry-After` says, or by default until the next minute of the clock. */
  refused(request: SandboxRequest, retryAfter: string | undefined): void {
    const at = this.#clock.now()
    const until = retryAfterTime(retryAfter, at) ?? (Math.floor(at / minuteMs) + 1) * minuteMs
    this.#refusals.set(request.key ?? '', { at, until, request: lineOf(request) })
  }

  /** Reports the violation behind a refusal of the service. */
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
  if (error instanceof RequestDeclined) return undefined
  if (error.status === 401) return request.key === undefined ? 'key-missing' : undefined
  if (error.status === 403) return isScopeOfWrite(request, error) ? 'scope' : undefined
  return byStatus[error.status]
}

function isScopeOfWrite({ method }: SandboxRequest, { message }: ApiError): boolean {
  return method !== 'GET' && /\bscope\b/.test(message)
}

function retryAfterTime(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined
  return /^\d+$/.test(retryAfter) ? now + Number(retryAfter) * 1000 : Date.parse(retryAfter)
}

function lineOf({ method, path, query }: SandboxRequest): string {
  return JSON.stringify([method, path, query])
}
