/** Checks that the key may write for an agency, before the first write. */
import type { KeyInfo } from '../../api/client/key.ts'
import { ConfigError, UsageError } from '../../lib/errors.ts'
import { nearest } from '../../lib/text/nearest.ts'

/** Throws ConfigError (exit 78) if a scope is missing. If the service reports no scopes, the first write will show it. */
export function requireScope({ scopes }: KeyInfo, scope: string): void {
  if (scopes.length === 0 || scopes.includes(scope)) return
  throw new ConfigError({
    what: `the key has no scope ${scope}`,
    next: 'use a connection whose key has it (--connection NAME)',
  })
}

export function requireAgencyKey({ kind }: KeyInfo): void {
  if (kind === 'agency') return
  throw new ConfigError({
    what: 'workers are written with an agency-scoped key, and this one is company-scoped',
    next: 'use a connection with an agency key (--connection NAME)',
  })
}

/** The agency to name in requests, if any. Throws UsageError if --agency is needed or not one of the key's. */
export function chosenAgency({ agencies = [] }: KeyInfo, named: string | undefined): string | undefined {
  const choices = agencies.map(({ id, name }) => (name === '' ? id : `${id} (${name})`)).join(', ')
  if (named === undefined) {
    if (agencies.length < 2) return undefined
    throw new UsageError({
      what: `the key spans ${agencies.length} agencies`,
      next: `name one: --agency ${choices}`,
    })
  }
  if (agencies.some(({ id }) => id === named)) return named
  const near = nearest(
    named,
    agencies.flatMap(({ id, name }) => [id, name]),
  )
  const meant = agencies.find(({ id, name }) => near !== undefined && (id === near || name === near))
  throw new UsageError({
    what: `${named} is not an agency of this key`,
    next: `${meant ? `did you mean ${meant.id} (${meant.name})? ` : ''}its agencies are ${choices}`,
  })
}
