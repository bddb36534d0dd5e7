/** Settles the currency of each company, which the service does not name, so that amounts of two currencies never add up. */
import { countries, getCountryCode } from 'countries-list'
import { companyCountries, replaceCurrencies, type Settled } from '../../state/marts/currencies.ts'
import type { Engine } from '../../warehouse/engine.ts'

export interface CurrencySettings {
  /** By id of the company. */
  readonly currencies?: Readonly<Record<string, string>>
  /** Of companies whose currency nothing else tells. */
  readonly currency?: string
}

/** Parts of a state that addresses give in its place. */
const parts: Readonly<Record<string, keyof typeof countries>> = {
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  'northern ireland': 'GB',
  'great britain': 'GB',
}

const isCode = (text: string): text is keyof typeof countries => Object.hasOwn(countries, text)

/** Of a name or a code of two letters. A country with several currencies is told by the first, which it uses most. */
export function currencyOf(country: string | null): string | undefined {
  const text = country?.trim() ?? ''
  if (text === '') return undefined
  const upper = text.toUpperCase()
  const code = isCode(upper) ? upper : (parts[text.toLowerCase()] ?? (getCountryCode(text) || undefined))
  return code === undefined ? undefined : countries[code].currency[0]
}

function settled(id: string, country: string | null, settings: CurrencySettings): Settled {
  const own = settings.currencies?.[id]
  if (own !== undefined) return { company_id: id, currency: own, basis: 'setting' }
  const told = currencyOf(country)
  if (told !== undefined) return { company_id: id, currency: told, basis: 'country' }
  const rest = settings.currency
  if (rest !== undefined) return { company_id: id, currency: rest, basis: 'fallback' }
  return { company_id: id, currency: 'unknown', basis: 'unknown' }
}

/** `at` is ISO 8601. */
export async function settleCurrencies(
  engine: Engine,
  settings: CurrencySettings,
  at: string,
): Promise<void> {
  const known = await companyCountries(engine)
  const rows = [...known].map(([id, country]) => settled(id, country, settings))
  await replaceCurrencies(engine, rows, at)
}
