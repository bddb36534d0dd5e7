/**
 * Limits undocumented values in star, which is published: the service may write anything where its contract lists values. One
 * word, such as a new status, stays. The raw value is in `pii.unknown_value`, or for an event in the inbox.
 */
import { quoteText } from '../sql-text.ts'

const otherValue = '(other)'

/** SQL for both engines. */
export const asPlainWord = (text: string, documented: readonly string[]): string => {
  const isWord = `(${text} ~ '^[A-Za-z][A-Za-z0-9_]*$' and length(${text}) <= 40)`
  const isListed = documented.length === 0 ? '' : `${text} in (${documented.map(quoteText).join(', ')}) or `
  return `case when ${text} is null or ${isListed}${isWord} then ${text} else ${quoteText(otherValue)} end`
}
