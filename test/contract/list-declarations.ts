/**
 * The plain lists of the contract, and which field of the answer each parameter looks at. Both follow from
 * `src/contract/operations.ts` where a parameter is named for its field; section 4 says the rest, which `stated` repeats.
 */
import type { ParameterKind } from '../../src/contract/fields/operation.ts'
import { readsByPath } from './operations.ts'
import type { KeyName } from './stand.ts'

export interface ListDeclaration {
  readonly path: string
  readonly sort: readonly string[]
  /** Where the contract states them. */
  readonly sortDefault?: { readonly by: string; readonly order: 'asc' | 'desc' }
  readonly search: readonly string[]
  /** Fields of `from` and `to`; the first is the default, `dateField` exists where there are several. */
  readonly dates: readonly string[]
  /** Values of parameters, and the field that has them. */
  readonly choices: Readonly<Record<string, { readonly values: readonly string[]; readonly field: string }>>
  /** Parameters that take ids, and where those stand in a row. */
  readonly ids: Readonly<Record<string, string>>
  /** Of these, those that the contract says take several. */
  readonly several: readonly string[]
  /** Flags, and the field each adds. */
  readonly includes: Readonly<Record<string, string>>
  /** Filters that belong to another key than the company's. */
  readonly keys?: Readonly<Record<string, KeyName>>
}

const byName = { by: 'name', order: 'asc' } as const

/** What does not follow from the parameters of a list; its own test says what is missing here. */
const stated: Readonly<Record<string, Partial<ListDeclaration>>> = {
  '/companies': { sortDefault: byName },
  '/projects': { sortDefault: byName, search: ['name', 'code'] },
  '/sites': { sortDefault: byName },
  '/users': {
    sortDefault: byName,
    search: ['name', 'email', 'jobTitle'],
    ids: { company: 'companies', project: 'projects', agency: 'agencies' },
    keys: { agency: 'several agencies' },
  },
  '/timesheets': { search: ['reference', 'worker.name', 'agency.name'] },
  '/expenses': { search: ['category', 'description'] },
  '/invoices': {
    search: [
      ...['reference', 'company.name', 'projects.name', 'agency.name', 'msp.name'],
      'timesheets.reference',
    ],
    ids: { company: 'company.id', project: 'projects.id', agency: 'agency.id' },
  },
}

/** Lists whose parameters mean something of their own: `mapping-rows.ts` and `metric-rows.ts` have their rows. */
const ownRows = ['/access-rule-mappings', '/requisitions/recruitment-metrics']

const notChoices = ['sortBy', 'sortOrder', 'dateField']

const valuesOf = (kind: ParameterKind | undefined): readonly string[] => (Array.isArray(kind) ? kind : [])

function declarationOf(path: string, parameters: Readonly<Record<string, ParameterKind>>): ListDeclaration {
  const named = Object.entries(parameters)
  const ofKind = (...kinds: readonly ParameterKind[]) =>
    named.flatMap(([name, kind]) => (kinds.includes(kind) ? [name] : []))
  const choices = named.filter(([name, kind]) => Array.isArray(kind) && !notChoices.includes(name))
  return {
    path,
    sort: valuesOf(parameters.sortBy),
    search: parameters.query ? ['name'] : [],
    dates: parameters.dateField ? valuesOf(parameters.dateField) : parameters.from ? ['createdAt'] : [],
    choices: Object.fromEntries(
      choices.map(([name, kind]) => {
        const values = valuesOf(kind)
        return [name, { values, field: values.includes('inactive') ? 'active' : name }]
      }),
    ),
    ids: Object.fromEntries(ofKind('id', 'ids').map(name => [name, `${name}.id`])),
    several: ofKind('ids'),
    includes: Object.fromEntries(
      ofKind('flag').map(name => [name, name.replace(/^include(.)/, (_, first) => first.toLowerCase())]),
    ),
    ...stated[path],
  }
}

export const LISTS: readonly ListDeclaration[] = [...readsByPath].flatMap(([path, [operation]]) =>
  operation?.answers !== 'page' || path.includes('{id}') || ownRows.includes(path)
    ? []
    : [declarationOf(path, operation.parameters)],
)

/** Sort values that are no field of the row. */
export const sortField = (name: string): string =>
  ['timesheetRef', 'invoiceRef'].includes(name) ? 'reference' : name
