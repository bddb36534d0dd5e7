/** Checks every row against the rules before anything is sent. */
import { createHash } from 'node:crypto'
import type * as z from 'zod'
import { changedWorker, newWorker } from '../../api/workers.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import { counted } from '../../lib/counted.ts'
import { largestBody } from '../../lib/file-kind.ts'
import { LoopPause } from '../../lib/pause.ts'
import { fieldPath } from '../../lib/text/field-path.ts'
import { didYouMean } from '../../lib/text/nearest.ts'
import { withLocalFiles } from './local-files.ts'
import type { InputRow, RowProblem } from './rows.ts'

export type WorkerOperation = 'create' | 'update'

export interface WorkerTarget {
  readonly operation: WorkerOperation
  readonly baseUrl: string
  readonly agency: string | undefined
  /** Folder of the input file: paths in rows are relative to it. */
  readonly folder: string
  /** Whether paths may lead out of the folder. */
  readonly allowOutside: boolean
}

/** A valid row. Its body is built again just before sending: the files of many rows would fill the memory. */
export interface ReadyRow {
  readonly row: number
  read(): unknown
  /** Hash of the request's body and target; equal hashes mean the same request. */
  readonly hash: string
  /** The agency's own id of a new worker, or the service's id of an updated one. */
  readonly label: string
  readonly addsDocuments: boolean
}

export interface WorkerBody {
  /** Id of the updated worker; empty for a new one. */
  readonly id: string
  readonly fields: Record<string, unknown>
}

export interface CheckedRows {
  readonly ready: readonly ReadyRow[]
  readonly problems: readonly RowProblem[]
}

/** Throws the signal's reason. */
export async function checkRows(
  rows: readonly InputRow[],
  target: WorkerTarget,
  signal: AbortSignal,
): Promise<CheckedRows> {
  const ready: ReadyRow[] = []
  const problems: RowProblem[] = []
  const seen = new Map<string, number>()
  const pause = new LoopPause(signal)
  for (const { row, read } of rows) {
    if (pause.isDue) await pause.take()
    const built = buildBody(read(), target)
    if ('problems' in built) {
      problems.push(...built.problems.map(problem => ({ row, ...problem })))
      continue
    }
    const label = target.operation === 'create' ? String(built.body.fields.agencyId) : built.body.id
    const earlier = target.operation === 'create' ? seen.get(label) : undefined
    if (earlier !== undefined) {
      problems.push({ row, field: 'agencyId', what: `is that of row ${earlier} too` })
      continue
    }
    seen.set(label, row)
    const { hash, addsDocuments } = built
    ready.push({ row, read, hash, label, addsDocuments })
  }
  return { ready, problems }
}

type FieldProblem = Omit<RowProblem, 'row'>

interface BuiltRow {
  readonly body: WorkerBody
  readonly hash: string
  readonly addsDocuments: boolean
}

/** The body to send for a row, including local files, or the row's problems. */
export function buildBody(
  row: unknown,
  target: WorkerTarget,
): BuiltRow | { readonly problems: readonly FieldProblem[] } {
  const { value, problems } = withLocalFiles(row, target)
  const { id, rest } = target.operation === 'update' ? apart(value) : { id: '', rest: value }
  const schema = target.operation === 'create' ? newWorker : changedWorker
  const parsed = schema.safeParse(rest)
  const found = [
    ...problems,
    ...idProblems(target.operation, id),
    ...(parsed.success ? [] : reasons(parsed.error, Object.keys(schema.shape))),
  ]
  if (!parsed.success || found.length > 0 || typeof id !== 'string') return { problems: firstOf(found) }
  const text = JSON.stringify(parsed.data)
  if (Buffer.byteLength(text) > largestBody) {
    const what = 'makes the request larger than 50 MB: send some files with `muster files upload` afterwards'
    return { problems: [{ field: parsed.data.attachments ? 'attachments' : 'rightToWork', what }] }
  }
  const hash = createHash('sha256')
    .update(JSON.stringify([target.operation, target.baseUrl, target.agency ?? '', id]))
    .update(text)
    .digest('hex')
  return { body: { id, fields: parsed.data }, hash, addsDocuments: addsDocuments(parsed.data) }
}

/** Problems reported for one row. */
const maxReported = 20

function firstOf(found: readonly FieldProblem[]): readonly FieldProblem[] {
  if (found.length <= maxReported) return found
  const more = found.length - maxReported
  return [...found.slice(0, maxReported), { field: '', what: `has ${counted(more, 'more problem')}` }]
}

function apart(value: unknown): { readonly id: unknown; readonly rest: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { id: undefined, rest: value }
  const { id, ...rest } = value as Record<string, unknown>
  return { id, rest }
}

function idProblems(operation: WorkerOperation, id: unknown): FieldProblem[] {
  if (operation === 'create' || (typeof id === 'string' && isSafeId(id))) return []
  return [
    { field: 'id', what: id === undefined ? 'is missing: the id of the worker to update' : 'is not an id' },
  ]
}

function addsDocuments({ attachments = [], rightToWork = [] }: z.infer<typeof changedWorker>): boolean {
  return [...attachments, ...rightToWork].some(document => !('id' in document) || document.id === undefined)
}

function reasons(error: z.ZodError, fields: readonly string[]): FieldProblem[] {
  return error.issues.flatMap(issue => {
    if (issue.code !== 'unrecognized_keys') return [{ field: fieldPath(issue.path), what: issue.message }]
    return issue.keys.map(key => ({
      field: fieldPath([...issue.path, key]),
      what: `is not a field${didYouMean(key, fields)}`,
    }))
  })
}
