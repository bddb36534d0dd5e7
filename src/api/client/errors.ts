/** The ways a request can fail, as a closed set of families: each stands for one reaction of the caller. */
import { ConfigError, type ExitCode, MusterError } from '../../lib/errors.ts'

/** What is known about a failed request; every text in it is already safe to show. */
export interface Facts {
  /** As `requestLine` writes it. */
  readonly request: string
  readonly status?: number
  /** The service's own words. */
  readonly code?: string | undefined
  readonly message?: string | undefined
  /** The Retry-After header as sent. */
  readonly retryAfter?: string | undefined
  /** Where a redirect pointed: scheme and host only. */
  readonly location?: string | undefined
  /** Whether the request was to change something. */
  readonly isWrite?: boolean | undefined
  readonly cause?: unknown
}

interface Words {
  readonly what: string
  readonly next: string
}

/** What all families carry; catch the families, not this. */
abstract class ApiError extends MusterError {
  readonly facts: Facts
  readonly status: number | undefined
  readonly code: string | undefined
  readonly serverMessage: string | undefined

  constructor(facts: Facts, words: Words) {
    super({ ...words, where: whereOf(facts), cause: facts.cause })
    this.facts = facts
    this.status = facts.status
    this.code = facts.code
    this.serverMessage = facts.message
  }
}

function whereOf(facts: Facts): string {
  const words = [facts.status, facts.code, facts.message && `"${facts.message}"`].filter(Boolean).join(' ')
  return words === '' ? facts.request : `${facts.request}: ${words}`
}

/** 401: stop everything that uses this key. */
export class KeyRefused extends ApiError {
  override readonly exitCode: ExitCode = 78

  constructor(facts: Facts) {
    super(facts, {
      what: 'the service refuses the API key',
      next: 'it is wrong, revoked or expired; put a valid key where apiKey is read from',
    })
  }
}

/** 403: skip this resource, say why, go on with the others. */
export class AccessDenied extends ApiError {
  constructor(facts: Facts) {
    super(facts, {
      what: `the key may not ${facts.isWrite ? 'write' : 'read'} this`,
      next: "compare the key's scopes, kind, companies and IP allowlist (`muster doctor`)",
    })
  }
}

/** 404 and 410: the record is gone, or was never within this key's reach; the service does not tell which. */
export class NotFound extends ApiError {
  constructor(facts: Facts) {
    super(facts, {
      what: 'not found',
      next: "it is gone or outside the key's reach; if every path answers so, check baseUrl",
    })
  }
}

/** Other 4xx: the request is wrong and will stay wrong, so it is not repeated. */
export class BadRequest extends ApiError {
  constructor(facts: Facts, what = 'the service rejects the request') {
    const next = facts.isWrite
      ? 'correct what the service names and send it again; nothing was changed'
      : 'check baseUrl and the settings; if they are right, report this as a bug'
    super(facts, { what, next })
  }
}

/** 409: what was sent is at odds with a record that is there; nothing was changed. `code` says in which way. */
export class Conflict extends ApiError {
  /** Whether a person has to decide in the application if it is the same worker. */
  readonly needsReview: boolean

  constructor(facts: Facts) {
    const needsReview = facts.code === 'WORKER_MATCH_REQUIRES_REVIEW'
    super(facts, {
      what: needsReview ? 'a matching worker exists' : 'it conflicts with another record',
      next: needsReview
        ? 'review the match in the application; the service tells no more, and nothing was created'
        : 'compare National Insurance number, passport number, e-mail and agency id with the records there',
    })
    this.needsReview = needsReview
  }
}

/**
 * A write that may have reached the service and got no usable answer. It is not repeated by itself: the
 * service has no way to tell a repetition from a second wish.
 */
export class Unsettled extends ApiError {
  constructor(cause: Retriable) {
    super(
      { ...cause.facts, cause },
      {
        what: `it is not known whether this was done: ${cause.report.what}`,
        next: 'look for the change in the application before you send it again',
      },
    )
  }
}

/**
 * Overload, network, timeout, or an answer that is not what the contract says: the same request may succeed.
 */
export class Retriable extends ApiError {
  readonly #words: Words

  constructor(facts: Facts, words: Words) {
    super(facts, words)
    this.#words = words
  }

  /** The same failure, in the words for when it is final. */
  final(why: string): Retriable {
    const facts = { ...this.facts, request: `${this.facts.request}, ${why}`, cause: this }
    return new Retriable(facts, this.#words)
  }
}

/** Everything a request can throw besides BudgetSpent, ConfigError and the abort reason. */
export type ApiFailure = KeyRefused | AccessDenied | NotFound | BadRequest | Conflict | Retriable | Unsettled

/** A 2xx answer that breaks the contract; `what` must not quote the answer. */
export function badAnswer(facts: Facts, what: string): Retriable {
  return new Retriable(facts, {
    what: `bad answer: ${what}`,
    next: 'run again; if it stays, the service or something on the way to it changed its answers',
  })
}

/** The one place where an HTTP status becomes a reaction. Never called for 2xx. */
export function failureOf(status: number, known: Omit<Facts, 'status'>): ApiFailure | ConfigError {
  const facts = { ...known, status }
  if (status === 401) return new KeyRefused(facts)
  if (status === 403) return new AccessDenied(facts)
  if (status === 404 || status === 410) return new NotFound(facts)
  if (status === 409) return new Conflict(facts)
  if (status === 429) return new Retriable(facts, words.limited)
  // 408 and 425 are the two other 4xx that HTTP defines as "send it again".
  if (status === 408 || status === 425 || status >= 500) return new Retriable(facts, words.broken)
  if (status >= 300 && status < 400) return redirected(facts)
  return new BadRequest(facts)
}

const words = {
  limited: {
    what: 'the service says the rate limit is reached',
    next: 'run again later; if it comes often, another program spends the same key',
  },
  broken: { what: 'the service failed', next: 'run again later; if it stays, tell its operators' },
}

function redirected(facts: Facts): ConfigError {
  return new ConfigError({
    what: `the service redirects${facts.location ? ` to ${facts.location}` : ''}`,
    where: whereOf(facts),
    next: 'set baseUrl to the final address; redirects are not followed, so that the key goes nowhere else',
  })
}
