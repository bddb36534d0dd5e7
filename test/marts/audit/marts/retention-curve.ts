import type { Audit, Expected } from '../compare.ts'
import { type Spell, spellsOf } from '../engagements.ts'
import { addDays, groupBy } from '../words.ts'

export const retentionCurve: Audit = {
  mart: 'retention_curve',
  rows: service => {
    const { today } = service
    const companies = groupBy(spellsOf(service), ({ company }) => company)
    return [...companies].flatMap(([company, spells]) => {
      const tenures = [...groupBy(spells, ({ worker }: Spell) => worker).values()].map(own => ({
        first: own.map(({ from }) => from).sort()[0] as string,
        last: own
          .map(({ until }) => until ?? today)
          .sort()
          .at(-1) as string,
      }))
      return [1, 2, 4, 8, 12, 26, 39, 52, 104].flatMap((weeks): Expected[] => {
        const old = tenures.filter(({ first }) => addDays(first, weeks * 7) <= today)
        const retained = old.filter(({ first, last }) => last >= addDays(first, weeks * 7)).length
        if (old.length === 0) return []
        return [
          {
            company_id: company,
            weeks,
            workers: old.length,
            retained,
            retention_ratio: retained / old.length,
          },
        ]
      })
    })
  },
}
