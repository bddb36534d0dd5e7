/** Reads the API key's facts from `/me`: its kind, what it may read, and its limits. */

interface KeyParty {
  readonly id: string
  readonly name: string
}

/** Times are texts as sent. Optional fields, and fields that were sent with another type, may be absent. */
export interface KeyInfo {
  readonly kind: 'company' | 'agency'
  readonly name: string
  readonly description: string
  readonly scopes: readonly string[]
  /** Requests per rolling minute: as sent, or defaultPerMinute. */
  readonly rateLimitPerMinute: number
  /** Requests per UTC day: as sent, or defaultPerDay. */
  readonly rateLimitPerDay: number
  /** Which limits are defaults because the service did not report them. */
  readonly isAssumed?: { readonly perMinute: boolean; readonly perDay: boolean }
  readonly usage: KeyUsage
  readonly ipAllowlist?: readonly string[]
  readonly expiresAt?: string
  readonly lastUsedAt?: string
  readonly createdAt?: string
  readonly companies?: readonly KeyParty[]
  readonly agencies?: readonly KeyParty[]
  /** The whole answer. */
  readonly bytes: Buffer
}

/** The service's count of the day, over all programs on the key. */
interface KeyUsage {
  readonly requestsToday?: number
  readonly remainingToday?: number
  readonly resetsAt?: string
}

/**
 * Used when a limit is absent, zero, fractional or implausible: the contract has no default values. Small services allow
 * one request a second; 5,000 a day are less than two hours at that rate, so a wrong guess does little harm.
 */
export const defaultPerMinute = 60
export const defaultPerDay = 5_000

const greatestPerMinute = 100_000
const greatestPerDay = 100_000_000

/** Reads the `data` of `/me`; wrong types never throw, they are left out or replaced by the defaults. */
export function readKey(data: Record<string, unknown>, bytes: Buffer): KeyInfo {
  const perMinute = count(data.rateLimitPerMinute, 1, greatestPerMinute)
  const perDay = count(data.rateLimitPerDay, 1, greatestPerDay)
  const agencies = refs(data.agencies)
  const companies = refs(data.companies)
  const scopes = texts(data.scopes) ?? []
  return {
    kind: kindOf({ agencies, companies, scopes }),
    name: text(data.name) ?? '',
    description: text(data.description) ?? '',
    scopes,
    rateLimitPerMinute: perMinute ?? defaultPerMinute,
    rateLimitPerDay: perDay ?? defaultPerDay,
    ...((perMinute === undefined || perDay === undefined) && {
      isAssumed: { perMinute: perMinute === undefined, perDay: perDay === undefined },
    }),
    usage: usage(data.usage),
    ...present('ipAllowlist', texts(data.ipAllowlist)),
    ...present('expiresAt', text(data.expiresAt)),
    ...present('lastUsedAt', text(data.lastUsedAt)),
    ...present('createdAt', text(data.createdAt)),
    ...present('companies', companies),
    ...present('agencies', agencies),
    bytes,
  }
}

interface KeyLists {
  readonly agencies: readonly KeyParty[] | undefined
  readonly companies: readonly KeyParty[] | undefined
  readonly scopes: readonly string[]
}

/**
 * An agency key may also list companies that it works for; only an agency key lists agencies. If both are empty, the presence
 * of the list decides, then the scope that only agency keys can have.
 */
function kindOf({ agencies, companies, scopes }: KeyLists): KeyInfo['kind'] {
  if (agencies?.length) return 'agency'
  if (companies?.length) return 'company'
  return agencies || scopes.includes('write:workers') ? 'agency' : 'company'
}

function usage(value: unknown): KeyUsage {
  const sent = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  return {
    ...present('requestsToday', count(sent.requestsToday, 0, greatestPerDay)),
    // A negative number means that the day is overdrawn, so none are left.
    ...present('remainingToday', count(clampLow(sent.remainingToday), 0, greatestPerDay)),
    ...present('resetsAt', text(sent.resetsAt)),
  }
}

function clampLow(value: unknown): unknown {
  return typeof value === 'number' && value < 0 ? 0 : value
}

function count(value: unknown, min: number, greatest: number): number | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined
  return value >= min && value <= greatest ? value : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : undefined
}

function refs(value: unknown): KeyParty[] | undefined {
  return Array.isArray(value) ? value.flatMap(ref) : undefined
}

function ref(value: unknown): KeyParty[] {
  if (typeof value === 'string') return [{ id: value, name: '' }]
  const sent = (value ?? {}) as Record<string, unknown>
  const id = text(sent.id)
  return id === undefined ? [] : [{ id, name: text(sent.name) ?? '' }]
}

/** Returns a property only if it has a value: absent and undefined differ under exactOptionalPropertyTypes. */
function present<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: Value }
}
