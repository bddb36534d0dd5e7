import type { Known } from '../known.ts'

export const known: Known = {
  stories: [],
  slips: [],
  equivalents: [
    {
      file: 'src/state/evidence/drift.ts',
      line: 'if (!page || found.length + values.length === 0) return',
      replacement: 'false',
      reason: 'With nothing found nothing is written; it saves a question for every batch.',
    },
    {
      file: 'src/state/evidence/quarantine-looks.ts',
      line: "return sorted.find(text => last !== undefined && text > last) ?? sorted[0] ?? ''",
      replacement: 'true',
      reason: 'No text is greater than undefined.',
    },
    {
      file: 'src/state/evidence/quarantine-looks.ts',
      line: 'return ids.length === 0 ? undefined : following(ids, due?.last?.place)',
      replacement: 'due.last?.place',
      reason: 'Where there are ids, a look is due.',
    },
  ],
}
