/** The words below the topic of a verdict on the data. */
import type { PanelRow } from '../../answers.ts'
import { formatted } from '../format.ts'

function inWords(wrong: unknown, all: unknown, noun: unknown): string {
  const count = formatted(wrong, 'count')
  if (typeof noun === 'string' && noun.startsWith('differ'))
    return `${formatted(Number(all) - Number(wrong), 'count')} agree, ${count} ${noun}`
  return [count, all !== null && `of ${formatted(all, 'count')}`, typeof noun === 'string' && noun]
    .filter(part => part !== false)
    .join(' ')
}

/** `3 of 19: companies, sites, users`, or how many figures agree and why others differ, and when it happened; a budget shows what is left even when it is good. */
export function detailOf({ wrong, of_all: all, names, noun, happened_at: at, state }: PanelRow): string {
  const parts: string[] = []
  const isLeft = typeof noun === 'string' && noun.startsWith('left') && wrong !== null
  if (isLeft || (state !== 'good' && Number(wrong) > 0)) {
    const count = inWords(wrong, all, noun)
    parts.push(typeof names === 'string' && names !== '' ? `${count}: ${names}` : count)
  } else if (typeof all === 'number' && all > 0) parts.push(`All ${formatted(all, 'count')}`)
  else if (state !== 'good') parts.push('No data yet')
  if (typeof at === 'string') parts.push(formatted(at, 'time'))
  return parts.join(' · ')
}
