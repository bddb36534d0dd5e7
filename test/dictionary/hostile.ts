/** A dictionary whose every text tries to be more than text. */
import type { Dictionary } from '../../src/dictionary/entries.ts'

export const hostile = `</td></script><img src=x onerror=alert(1)> "quoted" 'it' & \`tick\` | bar\n# head *bold* [a](b)`

/** The same dictionary with the hostile text in every place that holds words of others. */
export const withHostileTexts = (dictionary: Dictionary): Dictionary => ({
  ...dictionary,
  areas: dictionary.areas.map(area => ({ ...area, description: hostile })),
  tables: dictionary.tables.map(table => ({
    ...table,
    description: hostile,
    ...(table.question !== undefined && { question: hostile }),
    columns: table.columns.map(column => ({
      ...column,
      description: hostile,
      ...(column.unit !== undefined && { unit: 'a<b>|' }),
      values: column.values.map(() => hostile),
      fields: column.fields.map(field => `${field}<i>`),
    })),
  })),
})
