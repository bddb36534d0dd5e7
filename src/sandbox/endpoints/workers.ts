/** Serves POST /workers and PATCH /workers/{id}: stores nothing unless the complete body is valid. */
import { iso } from '../data/identity.ts'
import { type EndpointRequest, endpoint } from '../declare/endpoint.ts'
import { idParameter } from '../declare/parameters.ts'
import { chosenAgency } from '../keys/scope.ts'
import { demand, MatchRequiresReview } from '../refusals.ts'
import {
  type ChangedWorkerBody,
  changedWorker,
  checkedIdentity,
  newWorker,
  readChangedWorker,
  readNewWorker,
  type WorkerPerson,
} from '../writes/body.ts'
import { checksCards, type DocumentContext, type Draft, documentsAfter } from '../writes/documents.ts'
import type { FileStore } from '../writes/storage.ts'
import {
  createdWorker,
  updatedWorker,
  type Worker,
  type WorkerDocument,
  writeResult,
} from '../writes/worker-book.ts'

const parameters = {
  agency: idParameter.optional().describe('Agency to write for, where the key has several.'),
}

export const workerCreate = endpoint({
  method: 'POST',
  path: '/workers',
  keys: 'agency',
  scope: 'write:workers',
  operationId: 'createWorker',
  summary: 'Creates a worker, unless one matches.',
  returns: createdWorker,
  parameters,
  body: newWorker,
  answer: (request, query) => {
    const agency = chosenAgency(request, query.agency, 403)
    const { desk, nowMs } = request
    const { attachments, rightToWork, consent, agencyId, nationalIns, passportNo, ...details } =
      readNewWorker(request.body, iso(nowMs).slice(0, 10))
    const identity = checkedIdentity({ ...details, nationalIns, passportNo })
    const person: WorkerPerson = { ...details, ...identity }
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
})

export const workerUpdate = endpoint({
  method: 'PATCH',
  path: '/workers/:id',
  keys: 'agency',
  scope: 'write:workers',
  operationId: 'updateWorker',
  summary: 'Updates a worker of the agency.',
  returns: updatedWorker,
  parameters,
  body: changedWorker,
  answer: (request, query) => {
    const agency = chosenAgency(request, query.agency, 403)
    const id = idParameter.safeParse(request.params.id)
    demand(id.success, 'id: is not an id')
    const { desk, nowMs } = request
    const before = desk.workers.find(id.data, agency)
    demand(before, 'worker not found, or not represented by the selected agency', 404)
    const body = readChangedWorker(request.body, iso(nowMs).slice(0, 10))
    const person = personAfter(before.person, body)
    const context = contextOf(request, { agency, person, workerId: before.id })
    const drafts = documentsAfter(before.documents, body, context)
    const worker = { ...before, person, agencies: agenciesAfter(before, body, agency), updatedAt: iso(nowMs) }
    const saved = save(request, worker, { agency, drafts })
    return { data: { ...writeResult(saved, agency), updatedAt: saved.updatedAt } }
  },
})

/** The identity rules apply to the resulting record, whichever fields were sent. */
function personAfter(before: WorkerPerson, body: ChangedWorkerBody): WorkerPerson {
  const { active, agencyId, attachments, rightToWork, ...changes } = body
  const supplied = Object.entries(changes).filter(([, value]) => value !== undefined)
  const person: WorkerPerson = { ...before, ...Object.fromEntries(supplied) }
  return { ...person, ...checkedIdentity(person) }
}

function agenciesAfter({ agencies }: Worker, { active, agencyId }: ChangedWorkerBody, agency: string) {
  const before = agencies.get(agency)
  return new Map(agencies).set(agency, {
    agencyId: agencyId ?? before?.agencyId ?? '',
    active: active ?? before?.active ?? true,
  })
}

interface WorkerSubject {
  readonly agency: string
  readonly person: WorkerPerson
  readonly workerId?: string
}

function contextOf(request: EndpointRequest, { agency, person, workerId }: WorkerSubject): DocumentContext {
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
  { desk }: EndpointRequest,
  worker: Worker,
  { agency, drafts }: { agency: string; drafts: readonly Draft[] },
): Worker {
  const conflict = desk.workers.conflict(worker, agency)
  demand(conflict === undefined, `${conflict}: belongs to another worker`, 409)
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
