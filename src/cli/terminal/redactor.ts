/** Replaces known secrets in text that is about to be shown. */
import type { Secret } from '../../config/secret.ts'

export interface Redactor {
  learn(secrets: readonly Secret[]): void
  hide(text: string): string
}

/** Shorter texts occur in ordinary words; keys and passwords are far longer. */
const shortestSecret = 6

export function createRedactor(): Redactor {
  const spellings = new Set<string>()
  return {
    learn: secrets => {
      for (const secret of secrets) {
        const text = secret.reveal()
        if (text.length < shortestSecret) continue
        for (const spelling of [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]) {
          spellings.add(spelling)
        }
      }
    },
    hide: text => {
      let shown = text
      for (const spelling of spellings) shown = shown.replaceAll(spelling, '[secret]')
      return shown
    },
  }
}
