/** A refusal of the service: its HTTP status and the error object of its envelope. */

const codes: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  429: 'RATE_LIMITED',
  500: 'INTERNAL_ERROR',
}

export class ApiError extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** In place of the code that belongs to the status. */
  readonly code: string | undefined

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.headers = headers
    this.code = undefined
  }
}

/** 400 for a state that only the service knows, such as a locked document: the request breaks no rule. */
export class Declined extends ApiError {
  constructor(message: string) {
    super(400, message)
  }
}

/** Says nothing about the worker that matched: the caller may only learn that one exists. */
export class MatchRequiresReview extends ApiError {
  override readonly code = 'WORKER_MATCH_REQUIRES_REVIEW'

  constructor() {
    super(409, 'a worker with matching details exists; the match has to be reviewed in the application')
  }
}

/** The contract shows this body for 409 only; the sandbox answers every refusal with it. */
export function errorBody(status: number, message: string, code?: string) {
  return { success: false, error: { code: code ?? codes[status] ?? `HTTP_${status}`, message } }
}
