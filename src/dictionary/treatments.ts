/** Adds to the dictionary what the field policy of a connection does with each column. */
import { catalogue } from '../contract/catalogue.ts'
import type { Treatment } from '../contract/derived/field-rules.ts'
import type { ColumnEntry, Dictionary } from './entries.ts'

/** Finds the treatment of a field by the name of its resource and its path. */
export type TreatmentOf = (resource: string, path: string) => Treatment | undefined

const resourceNames: ReadonlyMap<string, string> = new Map(
  catalogue.map(({ entity, name }) => [entity, name]),
)

function treatmentIn({ fields }: ColumnEntry, treatmentOf: TreatmentOf): ColumnEntry['treatment'] {
  const found = fields.map(field => {
    const [entity = '', ...steps] = field.replaceAll('[]', '').replace(/\.\*$/, '').split('.')
    return treatmentOf(resourceNames.get(entity) ?? entity, steps.join('.'))
  })
  const word = found.includes('block') ? 'blocked' : found.includes('hash') ? 'hashed' : undefined
  if (word === undefined || found.every(one => one === found[0])) return word
  return `partly ${word}`
}

export const withTreatments = (dictionary: Dictionary, treatmentOf: TreatmentOf): Dictionary => ({
  ...dictionary,
  tables: dictionary.tables.map(table => ({
    ...table,
    columns: table.columns.map(column => {
      const treatment = treatmentIn(column, treatmentOf)
      return treatment ? { ...column, treatment } : column
    }),
  })),
})
