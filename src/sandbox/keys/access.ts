/** Which keys may use an endpoint. */
import { ApiError } from '../refusals/api-error.ts'
import { type ApiKey, readScopes, type Scope } from './keys.ts'

/**
 * The contract shows part of its scope mapping only. Each endpoint declares the sandbox's reading of the rest: records
 * without a scope of their own take the scope of the record that they belong to (decision 025).
 */
export interface Access {
  /** Keys of the other kind are answered 403. */
  readonly keys?: ApiKey['kind']
  readonly scope?: Scope
  /** Whether the owner of the key must be active and verified. */
  readonly activeOwner?: true
}

export function checkAccess(key: ApiKey, { keys = key.kind, scope, activeOwner }: Access): void {
  if (key.kind !== keys) throw new ApiError(403, `${key.kind}-scoped keys cannot use this endpoint`)
  if (scope) requireScope(key, scope)
  if (activeOwner && (key.ownerActive === false || key.ownerVerified === false)) {
    throw new ApiError(403, 'the key owner is inactive or unverified')
  }
}

export function requireScope(key: ApiKey, scope: Scope): void {
  if (!(key.scopes ?? readScopes).includes(scope)) throw new ApiError(403, `missing scope ${scope}`)
}
