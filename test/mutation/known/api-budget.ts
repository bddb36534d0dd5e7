import type { Known } from '../known.ts'

export const known: Known = {
  stories: [],
  slips: [],
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
