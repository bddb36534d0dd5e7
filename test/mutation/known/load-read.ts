import type { Equivalent, Known } from '../known.ts'

const file = 'src/load/read/batch.ts'

/** Alterations of a line that only spares work. */
const sparing = (line: string, reason: string, ...replacements: readonly string[]): Equivalent[] =>
  replacements.map(replacement => ({ file, line, replacement, reason }))

export const known: Known = {
  stories: [],
  slips: [],
  equivalents: [
    ...sparing(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the source
      'const filled = stage.lists.filter((_, index) => Number(row?.[`l${index}`]) > 0)',
      'A list without elements is read and found empty: one statement more, the same stages.',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the source
      ...['stage.lists', 'true', 'Number(row?.[`l${index}`]) >= 0'],
    ),
    ...sparing(
      'if (!stage.child || !lists.has(stage.child)) continue',
      'A list without elements is read and found empty: one statement more, the same stages.',
      'false',
    ),
    ...sparing(
      'hasDocuments: documents.some(({ name }) => Number(row?.[name]) > 0),',
      'Leaves are looked for and not found: one statement more.',
      ...['true', 'Number(row?.[name]) >= 0'],
    ),
    ...sparing(
      'const mayHaveLeaves = hasDocuments || batch.leaves !== undefined',
      'Leaves are looked for and not found: one statement more.',
      'true',
    ),
    ...sparing(
      'if (ids < records) await keepNewest(engine, plan, [...names])',
      'No record is there twice, so that none is removed.',
      ...['true', 'ids <= records'],
    ),
    {
      file,
      line: 'return Number(row?.Count)',
      replacement: 'row.Count',
      reason: 'The statement always gives one row.',
    },
  ],
}
