/** The ways a request can break the contract, and the refusal that names them for parameters. */
import { ApiError } from './api-error.ts'

export const violationKinds = {
  limit: '`limit` under 1 or over 200',
  page: '`page` under 1',
  'unknown-parameter': 'a parameter that the operation does not have',
  'repeated-parameter': 'a parameter given more than once',
  enum: 'a value that is none of those listed',
  date: 'a day that is not YYYY-MM-DD, or no day of the calendar',
  'bad-parameter': 'another parameter out of its kind',
  'bad-request': 'another request answered 400',
  'too-large': 'a body over 50 MB',
  'key-missing': 'no `Authorization: Bearer` header',
  'key-at-upload': 'the API key sent to an upload address',
  scope: 'a write without its scope',
  method: 'a method that the path does not have',
  'unknown-path': 'a path that is not in the contract',
  'over-limit': 'a request over the limit of the minute or of the day',
  'told-to-wait':
    'a request before the end of Retry-After, or in the minute of a 429 that did not say when to come back',
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
