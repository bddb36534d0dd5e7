/** Determines the currency of each company, which the service does not give, so that no sum mixes currencies. */
import { countries, getCountryCode } from 'countries-list'
import { companyCountries, replaceCurrencies, type SettledCurrency } from '../state/marts/currencies.ts'
import type { Engine } from '../warehouse/engine.ts'

export interface CurrencySettings {
  /** By id of the company. */
  readonly currencies?: Readonly<Record<string, string>>
  /** For companies without any other source of their currency. */
  readonly currency?: string
}

/** Parts of a country that addresses give instead of the country. */
const parts: Readonly<Record<string, keyof typeof countries>> = {
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  'northern ireland': 'GB',
  'great britain': 'GB',
}

const isCode = (text: string): text is keyof typeof countries => Object.hasOwn(countries, text)

/** Takes a name or a code of two letters. Of several currencies it uses the first, the country's most common one. */
export function currencyOf(country: string | null): string | undefined {
  const text = country?.trim() ?? ''
  if (text === '') return undefined
  const upper = text.toUpperCase()
  const code = isCode(upper) ? upper : (parts[text.toLowerCase()] ?? (getCountryCode(text) || undefined))
  return code === undefined ? undefined : countries[code].currency[0]
}

function settled(id: string, country: string | null, settings: CurrencySettings): SettledCurrency {
  const own = settings.currencies?.[id]
  if (own !== undefined) return { company_id: id, currency: own, basis: 'setting' }
  const foundCurrency = currencyOf(country)
  if (foundCurrency !== undefined) return { company_id: id, currency: foundCurrency, basis: 'country' }
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
