import type { Known } from '../known.ts'

export const known: Known = {
  equivalents: [],
}
