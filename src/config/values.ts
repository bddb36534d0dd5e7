/** Declares types of values that several groups of settings share. */
import * as z from 'zod'
import { didYouMean } from '../lib/text/nearest.ts'

/** One of these words; another one gets a suggestion. */
export const wordOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, {
    error: ({ input }) =>
      `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}${didYouMean(String(input), words)}`,
  })

/** A whole number; digits from an environment variable arrive as text. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): z.ZodType<number> {
  const digits = (value: unknown) =>
    typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  const bounded = z
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)
  return z.preprocess(digits, bounded)
}

export function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** An address, written as it is or taken from a variable. */
export const address = z
  .string()
  .refine(isHttp, 'must be an address, as in https://hooks.example.com/muster')
  .meta({ pattern: '^https?://' })
