/** A refusal of the service: its HTTP status and the error object of its envelope. */

const codes: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  429: 'RATE_LIMITED',
  500: 'INTERNAL_ERROR',
}

export class ApiError extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.headers = headers
  }
}

/** The contract shows this body for 409 only; the sandbox answers every refusal with it. */
export function errorBody(status: number, message: string) {
  return { success: false, error: { code: codes[status] ?? `HTTP_${status}`, message } }
}
