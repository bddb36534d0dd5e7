/** Defines the refusals of the service: HTTP status, and the error object of the envelope. */

/** The statuses of the contract, each with the code in its body. */
export const refusals: Readonly<Record<number, { readonly code: string; readonly meaning: string }>> = {
  400: {
    code: 'BAD_REQUEST',
    meaning: 'An invalid or missing parameter, id, filter or body, or a locked document.',
  },
  401: { code: 'UNAUTHORIZED', meaning: 'The key is missing, invalid, revoked or expired.' },
  403: { code: 'FORBIDDEN', meaning: 'The key, its address or its owner may not do this.' },
  404: { code: 'NOT_FOUND', meaning: 'There is no such record, or the key may not see it.' },
  405: { code: 'METHOD_NOT_ALLOWED', meaning: 'The route does not have this method.' },
  409: { code: 'CONFLICT', meaning: 'A worker matches, or another worker has the same identity.' },
  413: { code: 'PAYLOAD_TOO_LARGE', meaning: 'The body is larger than 50 MB.' },
  429: { code: 'RATE_LIMITED', meaning: 'The limit of the minute or of the day is reached.' },
  500: { code: 'INTERNAL_ERROR', meaning: 'An unexpected internal error.' },
}

export class ApiError extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Replaces the code that belongs to the status. */
  readonly code: string | undefined

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.headers = headers
    this.code = undefined
  }
}

/** Refuses unless a rule holds; the reason of a 400 begins with the field or parameter that breaks it. */
export function demand(holds: unknown, reason: string, status = 400): asserts holds {
  if (!holds) throw new ApiError(status, reason)
}

/** 400 for a state that only the service knows, such as a locked document: the request breaks no rule. */
export class RequestDeclined extends ApiError {
  constructor(message: string) {
    super(400, message)
  }
}

/** Does not identify the matching worker: the caller may only learn that one exists. */
export class MatchRequiresReview extends ApiError {
  override readonly code = 'WORKER_MATCH_REQUIRES_REVIEW'

  constructor() {
    super(409, 'a worker with matching details exists; the match has to be reviewed in the application')
  }
}

/** The contract shows this body for 409 only; the sandbox answers every refusal with it. */
export function errorBody(status: number, message: string, code?: string) {
  return { success: false, error: { code: code ?? refusals[status]?.code ?? `HTTP_${status}`, message } }
}

export const violationKinds = {
  limit: '`limit` under 1 or over 200',
  page: '`page` under 1',
  'unknown-parameter': 'a parameter that the operation does not have',
  'repeated-parameter': 'a parameter given more than once',
  enum: 'a value that is not in the list',
  date: 'a day that is not YYYY-MM-DD, or not in the calendar',
  'bad-parameter': 'another parameter with an invalid value',
  'bad-request': 'another request answered 400',
  'too-large': 'a body over 50 MB',
  'key-missing': 'no `Authorization: Bearer` header',
  'key-at-upload': 'the API key sent to an upload address',
  scope: 'a write without its scope',
  method: 'a method that the path does not have',
  'unknown-path': 'a path that is not in the contract',
  'over-limit': 'a request over the limit of the minute or of the day',
  'told-to-wait':
    'a request before the end of Retry-After, or in the same minute as a 429 without that header',
} as const

export type ViolationKind = keyof typeof violationKinds

interface ParameterViolation {
  readonly kind: ViolationKind
  readonly reason: string
}

/** 400 for parameters; one refusal may name several. */
export class ParameterError extends ApiError {
  readonly violations: readonly ParameterViolation[]

  constructor(violations: readonly ParameterViolation[]) {
    super(400, violations.map(({ reason }) => reason).join('; '))
    this.violations = violations
  }
}
