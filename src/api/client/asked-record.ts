/** Whether an answer is about the record whose id stands in the path. */
import { operations } from '../../contract/operations.ts'

const paths: readonly string[] = Object.values(operations).map(({ path }) => path)

/** /trades/{id} as an expression of /trades/65f0; what stands below a company names it in its answer. */
const withId = Object.values(operations)
  .filter(({ path, answers }) => answers === 'record' && path.includes('{id}'))
  .map(({ path }) => ({
    shape: new RegExp(`^${path.replace('{id}', '([^/]+)')}$`),
    isBelow: !path.endsWith('{id}'),
  }))

const objectId = /^[0-9a-f]{24}$/i

type Named = Record<string, unknown>

/** A short id may stand for a full one; nothing but its own field tells for which. */
function isNamed(asked: string, { id, nanoid }: Named): boolean {
  if (typeof id !== 'string') return false
  if (id === asked || nanoid === asked) return true
  return typeof nanoid !== 'string' && objectId.test(id) && !objectId.test(asked)
}

/** True where the path has no id of a record. */
export function isAsked(path: string, record: Named): boolean {
  if (paths.includes(path)) return true
  for (const { shape, isBelow } of withId) {
    const asked = shape.exec(path)?.[1]
    if (asked === undefined) continue
    const named = isBelow ? record.company : record
    return (isBelow && named === undefined) || isNamed(decodeURIComponent(asked), Object(named))
  }
  return true
}
