/** What a key can reach, in a word: a record that one scope cannot see may be there for another. */
import { createHash } from 'node:crypto'
import type { SyncContext } from './context.ts'

const idsOf = (refs: readonly { readonly id: string }[] = []): string[] => refs.map(({ id }) => id).sort()

/** 64 bits of a hash over the key, its kind, scopes, companies and agencies. */
export function keyScope({ apiKeyId, key }: Pick<SyncContext, 'apiKeyId' | 'key'>): string {
  const { kind, scopes, companies, agencies } = key
  const reach = [apiKeyId, kind, [...scopes].sort(), idsOf(companies), idsOf(agencies)]
  return createHash('sha256').update(JSON.stringify(reach)).digest('hex').slice(0, 16)
}
