/** POST /workers and PATCH /workers/{id}: nothing is kept unless everything in the body is right. */

import { iso } from '../data/identity.ts'
import { idParameter, parseParameters } from '../declare/parameters.ts'
import type { WriteEndpoint, WriteRequest } from '../declare/write-endpoint.ts'
import { chosenAgency } from '../keys/agency-choice.ts'
import { ApiError, MatchRequiresReview } from '../refusals/api-error.ts'
import {
  type ChangedWorker,
  changedWorker,
  newWorker,
  readChangedWorker,
  readNewWorker,
} from '../workers/body.ts'
import { type DocumentContext, type Draft, documentsAfter } from '../workers/documents.ts'
import type { FileStore } from '../workers/file-store.ts'
import { checkedIdentity } from '../workers/identity-rules.ts'
import { checksCards } from '../workers/smart-check.ts'
import { type Person, type Worker, type WorkerDocument, writeResult } from '../workers/worker.ts'

const parameters = { agency: idParameter.optional() }

export const workerCreate: WriteEndpoint = {
  method: 'POST',
  path: '/workers',
  parameters,
  body: newWorker,
  answer: request => {
    const agency = agencyOf(request)
    const { desk, nowMs } = request
    const { attachments, rightToWork, consent, agencyId, nationalIns, passportNo, ...details } =
      readNewWorker(request.body, iso(nowMs).slice(0, 10))
    const identity = checkedIdentity({ ...details, nationalIns, passportNo })
    const person: Person = { ...details, ...identity }
    const drafts = documentsAfter([], { attachments, rightToWork }, contextOf(request, { agency, person }))
    if (desk.workers.hasMatch(person)) throw new MatchRequiresReview()
    const createdAt = iso(nowMs)
    const worker: Worker = {
      id: desk.workers.newId(nowMs),
      reference: desk.workers.newReference(),
      person,
      agencies: new Map([[agency, { agencyId, active: true }]]),
      documents: [],
      createdAt,
      updatedAt: createdAt,
    }
    const saved = save(request, worker, { agency, drafts })
    return { data: { ...writeResult(saved, agency), createdAt } }
  },
}

export const workerUpdate: WriteEndpoint = {
  method: 'PATCH',
  path: '/workers/:id',
  parameters,
  body: changedWorker,
  answer: request => {
    const agency = agencyOf(request)
    const id = idParameter.safeParse(request.params.id)
    if (!id.success) throw new ApiError(400, 'id: is not an id')
    const { desk, nowMs } = request
    const before = desk.workers.find(id.data, agency)
    if (!before) throw new ApiError(404, 'worker not found, or not represented by the selected agency')
    const body = readChangedWorker(request.body, iso(nowMs).slice(0, 10))
    const person = personAfter(before.person, body)
    const context = contextOf(request, { agency, person, workerId: before.id })
    const drafts = documentsAfter(before.documents, body, context)
    const worker = { ...before, person, agencies: agenciesAfter(before, body, agency), updatedAt: iso(nowMs) }
    const saved = save(request, worker, { agency, drafts })
    return { data: { ...writeResult(saved, agency), updatedAt: saved.updatedAt } }
  },
}

function agencyOf(request: WriteRequest): string {
  const { agency } = parseParameters(parameters, request.query)
  return chosenAgency(request, agency, 403)
}

/** The identity rules hold for what the record becomes, whatever part of it was sent. */
function personAfter(before: Person, body: ChangedWorker): Person {
  const { active, agencyId, attachments, rightToWork, ...changes } = body
  const supplied = Object.entries(changes).filter(([, value]) => value !== undefined)
  const person: Person = { ...before, ...Object.fromEntries(supplied) }
  return { ...person, ...checkedIdentity(person) }
}

function agenciesAfter({ agencies }: Worker, { active, agencyId }: ChangedWorker, agency: string) {
  const before = agencies.get(agency)
  return new Map(agencies).set(agency, {
    agencyId: agencyId ?? before?.agencyId ?? '',
    active: active ?? before?.active ?? true,
  })
}

interface Subject {
  readonly agency: string
  readonly person: Person
  readonly workerId?: string
}

function contextOf(request: WriteRequest, { agency, person, workerId }: Subject): DocumentContext {
  const { desk, nowMs, world, key } = request
  return {
    uploads: desk.uploads,
    caller: key.key,
    agency,
    workerId,
    nowMs,
    person,
    checksCards: () => checksCards(world, agency),
    newId: () => desk.workers.newId(nowMs),
    createdAt: iso(nowMs),
  }
}

function save(
  { desk }: WriteRequest,
  worker: Worker,
  { agency, drafts }: { agency: string; drafts: readonly Draft[] },
): Worker {
  const conflict = desk.workers.conflict(worker, agency)
  if (conflict !== undefined) throw new ApiError(409, `${conflict}: belongs to another worker`)
  const saved = { ...worker, documents: drafts.map(draft => stored(draft, desk.files)) }
  desk.workers.save(saved)
  return saved
}

function stored(draft: Draft, store: FileStore): WorkerDocument {
  const files = draft.files.map(file => {
    if ('url' in file) return file
    const { bytes, type, ...named } = file
    return { ...named, url: store.keep(bytes, type) }
  })
  return { ...draft, files }
}
