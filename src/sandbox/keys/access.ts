/**
 * Who may use which endpoint. The contract does not show the whole scope mapping and leaves some rows of
 * its summary table open; this table is the sandbox's reading of both, in one place: records without a scope
 * of their own take that of what they hang on (decision 025).
 */
import { ApiError } from '../refusals/api-error.ts'
import { type ApiKey, readScopes, type WriteScope } from './keys.ts'

export interface Access {
  readonly scope?: (typeof readScopes)[number] | WriteScope
  /** Agency keys are answered 403. */
  readonly companyKeysOnly?: boolean
  /** Company keys are answered 403. */
  readonly agencyKeysOnly?: boolean
  readonly activeOwner?: boolean
}

export const access = {
  '/me': {},
  '/companies': { scope: 'read:companies', companyKeysOnly: true },
  '/companies/:id': { scope: 'read:companies', companyKeysOnly: true },
  '/companies/:id/competency-matrix': { scope: 'read:companies', companyKeysOnly: true },
  '/companies/:id/user-permissions': { scope: 'read:users', companyKeysOnly: true },
  '/companies/:id/user-assignments': { scope: 'read:users', companyKeysOnly: true },
  '/access-rule-mappings': { scope: 'read:companies', companyKeysOnly: true },
  '/projects': { scope: 'read:projects', companyKeysOnly: true },
  '/projects/:id': { scope: 'read:projects', companyKeysOnly: true },
  '/sites': { scope: 'read:projects', companyKeysOnly: true },
  '/sites/:id': { scope: 'read:projects', companyKeysOnly: true },
  '/users': { scope: 'read:users', activeOwner: true },
  '/trades/:id': { scope: 'read:trades' },
  '/rates/:id': { scope: 'read:rates' },
  '/requisitions/recruitment-metrics': { scope: 'read:projects', companyKeysOnly: true },
  '/requisitions/:id': { scope: 'read:projects' },
  '/assignments/:id': { scope: 'read:workers' },
  '/timesheets': { scope: 'read:workers' },
  '/expenses': { scope: 'read:workers' },
  '/expenses/:id': { scope: 'read:workers' },
  '/invoices': { scope: 'read:invoices' },
  '/credit-notes/:id': { scope: 'read:credit-notes' },
  '/purchase-orders/:id': { scope: 'read:purchase-orders', companyKeysOnly: true },
} as const satisfies Record<string, Access>

export type EndpointPath = keyof typeof access

/** What a file is uploaded for decides which scope it takes: the endpoint looks at the body first. */
export const writeAccess = {
  '/workers': { scope: 'write:workers', agencyKeysOnly: true },
  '/workers/:id': { scope: 'write:workers', agencyKeysOnly: true },
  '/files/uploads': {},
} as const satisfies Record<string, Access>

export type WritePath = keyof typeof writeAccess

export function checkAccess(key: ApiKey, path: EndpointPath | WritePath): void {
  const rule: Access = { ...access, ...writeAccess }[path]
  if (rule.companyKeysOnly && key.kind === 'agency') {
    throw new ApiError(403, 'agency-scoped keys cannot use this endpoint')
  }
  if (rule.agencyKeysOnly && key.kind !== 'agency') {
    throw new ApiError(403, 'company-scoped keys cannot use this endpoint')
  }
  if (rule.scope) requireScope(key, rule.scope)
  if (rule.activeOwner && (key.ownerActive === false || key.ownerVerified === false)) {
    throw new ApiError(403, 'the key owner is inactive or unverified')
  }
}

export function requireScope(key: ApiKey, scope: string): void {
  if (!(key.scopes ?? readScopes).includes(scope)) throw new ApiError(403, `missing scope ${scope}`)
}
