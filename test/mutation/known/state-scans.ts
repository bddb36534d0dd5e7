import type { Known } from '../known.ts'

export const known: Known = {
  stories: [],
  slips: [],
  equivalents: [
    {
      file: 'src/state/scans/proof.ts',
      line: 'const fromStart = later.from_day === null || (scan.from_day !== null && later.from_day <= scan.from_day)',
      replacement: 'true',
      reason: 'No day compares with null.',
    },
    {
      file: 'src/state/scans/proof.ts',
      line: 'const toEnd = later.to_day === null || (scan.to_day !== null && later.to_day >= scan.to_day)',
      replacement: 'true',
      reason: 'No day compares with null.',
    },
  ],
}
