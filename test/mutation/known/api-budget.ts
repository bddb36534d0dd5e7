import type { Known } from '../known.ts'

export const known: Known = {
  stories: [],
  slips: [
    {
      file: 'src/state/requests/key-requests.ts',
      before: ' where key_id = $1 for update',
      after: ' where key_id = $1',
      test: 'test/warehouse/postgres/shared-requests.test.ts',
      harm: 'Two processes take one slot of a shared key.',
    },
  ],
  equivalents: [
    {
      file: 'src/api/budget/budget.ts',
      line: 'if (!this.#shared) return',
      replacement: 'false',
      reason:
        'Alone, what is said fails unheard: its failure reaches only requests that ask for a shared slot.',
    },
    {
      file: 'src/api/budget/minute.ts',
      line: 'this.#ended = this.#ended.filter(at => now - at < this.#window)',
      replacement: 'now - at <= this.#window',
      reason: 'A request that ended exactly a window ago is waited for by 0 ms, which is no wait.',
    },
  ],
}
