/** Hiring companies and the agencies that serve them. */
import { dayMs } from '../../../lib/dates.ts'
import type { Draw } from '../draw.ts'
import type { Ref } from '../identity.ts'
import { agencyStems, agencySuffixes, cities, companyStems, companyTrades } from '../names.ts'
import { editedSince, type Seed } from '../seed.ts'
import { companyConfig } from './company-config.ts'

export type Company = ReturnType<typeof companyOf>

export interface Agency extends Ref {
  /** Percent that the construction industry scheme deducts; 0 for agencies paid gross. */
  readonly cisRate: 0 | 20
}

/** The last company of several buys through a managed service provider. */
export function makeCompanies(seed: Seed): Company[] {
  const draw = seed.draw('companies')
  const { companies } = seed.counts
  return Array.from({ length: companies }, (_, index) =>
    companyOf(seed, draw, { index, msp: companies > 2 && index === companies - 1 }),
  )
}

function companyOf(seed: Seed, draw: Draw, { index, msp }: { index: number; msp: boolean }) {
  const createdMs = seed.firstWeekMs - (900 - index) * dayMs - Math.floor(draw.fraction() * dayMs)
  const round = Math.floor(index / companyStems.length)
  const stem = companyStems[index % companyStems.length] as string
  const name = `${stem} ${companyTrades[(index + round) % companyTrades.length]} Ltd`
  const companyNumber = `0${draw.digits(7)}`
  const [city, code, latitude, longitude] = cities[index % cities.length] as (typeof cities)[number]
  const domain = `${stem.toLowerCase()}${round || ''}.example.com`
  return {
    id: draw.id(createdMs),
    name,
    prefix: stem.slice(0, 3).toUpperCase() + (round || ''),
    email: `office@${domain}`,
    companyNumber,
    industry: 'Construction',
    active: index < 3 || draw.chance(0.95),
    /** Not part of any response: the contract's config object has no key for it. */
    stageTracking: index % 3 !== 2,
    projectCount: 0,
    phone: { countryCode: '+44', number: `0${draw.digits(10)}` },
    address: {
      lineOne: `${1 + index * 3} Exchange Street`,
      lineTwo: '',
      city,
      region: 'England',
      country: 'United Kingdom',
      code: `${code} ${1 + (index % 9)}AA`,
      latitude,
      longitude,
    },
    finance: financeOf(draw, { name, companyNumber, domain, city }),
    config: companyConfig(draw, { msp, enhancedUplifts: index % 3 === 1 }),
    ...editedSince(seed, draw, createdMs),
  }
}

function financeOf(
  draw: Draw,
  company: { name: string; companyNumber: string; domain: string; city: string },
) {
  const component = (name: string, key: string, value: number) => ({
    name,
    key,
    value,
    basedOn: ['pay'],
    sectors: [],
  })
  return {
    vat: `GB${draw.digits(9)}`,
    companyNumber: company.companyNumber,
    accountName: company.name,
    bankName: 'Example Bank',
    accountNumber: draw.digits(8),
    sortCode: `00-${draw.digits(2)}-${draw.digits(2)}`,
    utr: draw.digits(10),
    billingName: company.name,
    financeCompany: company.name,
    cis: { registered: true },
    billing: { lineOne: '1 Exchange Street', city: company.city, country: 'United Kingdom' },
    financeEmail: { invoices: `accounts@${company.domain}` },
    paymentTerms: { days: 30, term: 'net' },
    costs: {
      markup: component('Agency margin', 'markup', 0.12),
      emp: [
        component("Employer's National Insurance", 'ni', 0.15),
        component('Holiday pay', 'holiday', 0.1),
        component('Pension', 'pension', 0.02),
      ],
    },
  }
}

export function makeAgencies(seed: Seed): Agency[] {
  const draw = seed.draw('agencies')
  return Array.from({ length: seed.counts.agencies }, (_, index) => ({
    id: draw.id(seed.firstWeekMs - (700 - (index % 600)) * dayMs),
    name: agencyName(draw, index),
    cisRate: draw.chance(0.3) ? 20 : 0,
  }))
}

function agencyName(draw: Draw, index: number): string {
  const round = Math.floor(index / agencyStems.length)
  const suffix = round === 0 ? draw.pick(agencySuffixes) : `${agencySuffixes[round % 5]} ${round + 1}`
  return `${agencyStems[index % agencyStems.length]} ${suffix}`
}
