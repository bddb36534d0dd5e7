/** Classifies how a request can fail, as a closed set of classes; callers react to each in one way. */
import { type ExitCode, MusterError } from '../../lib/errors.ts'

/** Facts about a failed request; all texts are safe to show. */
export interface RequestFacts {
  /** As `requestLine` writes it. */
  readonly request: string
  readonly status?: number
  /** Code and message of the service. */
  readonly code?: string | undefined
  readonly message?: string | undefined
  /** The Retry-After header as sent. */
  readonly retryAfter?: string | undefined
  /** The Date header as sent. */
  readonly date?: string | undefined
  /** Target of a redirect: scheme and host only. */
  readonly location?: string | undefined
  /** Whether the request would have changed something. */
  readonly isWrite?: boolean | undefined
  readonly cause?: unknown
}

interface ErrorTexts {
  readonly what: string
  readonly next: string
}

/** The common base; catch the classes, not this one. */
abstract class RequestError extends MusterError {
  readonly facts: RequestFacts
  readonly status: number | undefined
  readonly code: string | undefined
  readonly serverMessage: string | undefined

  constructor(facts: RequestFacts, words: ErrorTexts) {
    super({ ...words, where: whereOf(facts), cause: facts.cause })
    this.facts = facts
    this.status = facts.status
    this.code = facts.code
    this.serverMessage = facts.message
  }
}

function whereOf(facts: RequestFacts): string {
  const words = [facts.status, facts.code, facts.message && `"${facts.message}"`].filter(Boolean).join(' ')
  return words === '' ? facts.request : `${facts.request}: ${words}`
}

/** 401, confirmed by `/me`: stop everything that uses this key. */
export class KeyRefused extends RequestError {
  override readonly exitCode: ExitCode = 78

  constructor(facts: RequestFacts) {
    super(facts, {
      what: 'the service refuses the API key',
      next: 'it is wrong, revoked or expired; put a valid key where apiKey is read from',
    })
  }
}

/** 403 and 451: skip this resource, report why, continue with the others. */
export class AccessDenied extends RequestError {
  constructor(facts: RequestFacts) {
    super(facts, {
      what: `the key may not ${facts.isWrite ? 'write' : 'read'} this`,
      next: "compare the key's scopes, kind, companies and IP allowlist (`muster doctor`)",
    })
  }
}

/** 404 and 410: the record was deleted, or this key may not see it; the service does not say which. */
export class NotFound extends RequestError {
  constructor(facts: RequestFacts) {
    super(facts, {
      what: 'not found',
      next: 'it was deleted, or this key may not see it; if every path answers so, check baseUrl',
    })
  }
}

/** The service answered with a different record: nothing is known about the requested one. */
export class OtherRecord extends RequestError {
  constructor(facts: RequestFacts) {
    super(facts, {
      what: 'bad answer: a different record than requested',
      next: 'ask again; if it keeps happening, tell the operators of the service',
    })
  }
}

/** The answer is larger than the settings allow; a retry would be just as large. */
export class AnswerTooLarge extends RequestError {
  constructor(facts: RequestFacts, bytes: number) {
    super(facts, {
      what: `bad answer: more than ${bytes} bytes`,
      next: 'raise pageCapMegabytes of the settings if records may be so large, else tell the operators of the service',
    })
  }
}

/** Other 4xx: the request is wrong, so it is not sent again. */
export class BadRequest extends RequestError {
  constructor(facts: RequestFacts, what = 'the service rejects the request') {
    const next = facts.isWrite
      ? 'correct what the service names and send it again; nothing was changed'
      : 'check baseUrl and the settings; if they are right, report this as a bug'
    super(facts, { what, next })
  }
}

/** 409: the request conflicts with an existing record; nothing was changed. `code` says how. */
export class Conflict extends RequestError {
  /** Whether a user has to decide in the application if it is the same worker. */
  readonly needsReview: boolean

  constructor(facts: RequestFacts) {
    const needsReview = facts.code === 'WORKER_MATCH_REQUIRES_REVIEW'
    super(facts, {
      what: needsReview ? 'a matching worker exists' : 'it conflicts with another record',
      next: needsReview
        ? 'review the match in the application; the service gives no details, and nothing was created'
        : 'compare National Insurance number, passport number, e-mail and agency id with the existing records',
    })
    this.needsReview = needsReview
  }
}

/**
 * A write that may have reached the service and got no usable answer. It is not sent again automatically, because the
 * service cannot tell a retry from a second request.
 */
export class WriteUnsettled extends RequestError {
  constructor(cause: RetriableError) {
    super(
      { ...cause.facts, cause },
      {
        what: `it is unknown whether this was done: ${cause.report.what}`,
        next: 'look for the change in the application before you send it again',
      },
    )
  }
}

/** Overload, network, timeout, or an answer that breaks the contract: the same request may succeed later. */
export class RetriableError extends RequestError {
  readonly #words: ErrorTexts

  constructor(facts: RequestFacts, words: ErrorTexts) {
    super(facts, words)
    this.#words = words
  }

  /** The same failure, of the same class, after the last attempt; `advice` is appended. */
  final(why: string, advice = ''): RetriableError {
    const facts = { ...this.facts, request: `${this.facts.request}, ${why}`, cause: this }
    const Same = this.constructor as typeof RetriableError
    return new Same(facts, { ...this.#words, next: this.#words.next + advice })
  }
}

/** The error for a request that got 401 twice while `/me` accepts the key. */
export function strayRefusal({ facts }: KeyRefused): RetriableError {
  const request = `${facts.request}, sent 2 times`
  return new RetriableError(
    { ...facts, request },
    {
      what: 'the service refuses the API key here, and accepts it for /me',
      next: 'run again later; if it keeps happening, tell the operators of the service',
    },
  )
}

/** Everything a request can throw besides BudgetSpent, ConfigError and the abort reason. */
export type ApiFailure =
  | KeyRefused
  | AccessDenied
  | NotFound
  | OtherRecord
  | AnswerTooLarge
  | BadRequest
  | Conflict
  | RetriableError
  | WriteUnsettled

/** A 2xx answer that breaks the contract. */
export class BadAnswer extends RetriableError {}

/** `what` must not quote the answer. */
export function badAnswer(facts: RequestFacts, what: string): BadAnswer {
  return new BadAnswer(facts, {
    what: `bad answer: ${what}`,
    next: 'run again; if it keeps happening, the service or a proxy has changed its answers',
  })
}

/**
 * An answer with any status that is not in the service's form: something between it and this machine may have answered. It
 * proves nothing except a failure.
 */
export class NotTheService extends RetriableError {}

export function notTheService(facts: RequestFacts, found: string): NotTheService {
  return new NotTheService(facts, {
    what: `the answer does not come from the service: ${found}`,
    next: 'run again; if it keeps happening, a login page, proxy, firewall or load balancer answers instead: open baseUrl from this machine',
  })
}

/**
 * Maps an HTTP status to a class, here only. Never called for 2xx. `foreign` is the kind of a body that is
 * not in the form of the service.
 */
export function failureOf(status: number, known: Omit<RequestFacts, 'status'>, foreign?: string): ApiFailure {
  const facts = { ...known, status }
  // 408 and 425 are the two 4xx besides 429 that HTTP defines as "send it again".
  const isBroken = status === 408 || status === 425 || status >= 500
  if (isBroken) return new (foreign === undefined ? RetriableError : NotTheService)(facts, words.broken)
  if (foreign !== undefined) return notTheService(facts, describe(facts, foreign))
  if (status === 401) return new KeyRefused(facts)
  if (status === 403 || status === 451) return new AccessDenied(facts)
  if (status === 404 || status === 410) return new NotFound(facts)
  if (status === 409) return new Conflict(facts)
  if (status === 429) return new RetriableError(facts, words.limited)
  return new BadRequest(facts)
}

/** Redirects are not followed, so that the key is sent nowhere else. */
function describe({ status = 0, location }: RequestFacts, foreign: string): string {
  if (status < 300 || status >= 400) return foreign
  return location === undefined ? 'a redirect' : `a redirect to ${location}`
}

const words = {
  limited: {
    what: 'the service says the rate limit is reached',
    next: 'run again later; if it happens often, another program uses the same key',
  },
  broken: { what: 'the service failed', next: 'run again later; if it keeps happening, tell its operators' },
}
