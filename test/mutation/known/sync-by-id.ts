import type { Known } from '../known.ts'

export const known: Known = {
  stories: [],
  slips: [],
  equivalents: [
    {
      file: 'src/sync/by-id/by-id.ts',
      line: 'for (const due of chunks(chosen.get(one.locked.task.resource.name) ?? [], perTurn))',
      replacement: '["Stryker was here"]',
      reason: 'A choice has an entry for every resource that was open when it was made.',
    },
  ],
}
