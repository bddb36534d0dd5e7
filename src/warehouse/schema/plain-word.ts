/**
 * Star is published, and the service may write anything where its contract lists values: an undocumented one stays only when it
 * is one word, as a new status is. The raw value is in `pii.unknown_value`, or for an event in `ops.inbox`.
 */
import { quoteText } from '../sql-text.ts'

const otherValue = '(other)'

/** SQL for both engines. */
export const asPlainWord = (text: string, documented: readonly string[]): string => {
  const isWord = `(${text} ~ '^[A-Za-z][A-Za-z0-9_]*$' and length(${text}) <= 40)`
  const isListed = documented.length === 0 ? '' : `${text} in (${documented.map(quoteText).join(', ')}) or `
  return `case when ${text} is null or ${isListed}${isWord} then ${text} else ${quoteText(otherValue)} end`
}
