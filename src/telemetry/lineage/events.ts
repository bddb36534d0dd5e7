/** Events of runs in the form of OpenLineage 2-0-2. */
import { programVersion } from '../../lib/package.ts'
import type { Dataset, Flow } from './datasets.ts'

export interface Job {
  readonly namespace: string
  readonly name: string
}

export interface Run {
  /** A UUID. */
  readonly runId: string
  readonly job: Job
  /** The run that started this one, such as that of a DAG. */
  readonly parent?: { readonly runId: string; readonly job: Job } | undefined
}

const spec = 'https://openlineage.io/spec'
const producer = `https://www.npmjs.com/package/@muster-data/cli/v/${programVersion}`

const facet = <Content extends object>(name: string, content: Content) => ({
  _producer: producer,
  _schemaURL: `${spec}/facets/${name}`,
  ...content,
})

function dataset({ namespace, name, columns, from }: Dataset) {
  const fields = Object.fromEntries(
    Object.entries(from).map(([column, inputFields]) => [column, { inputFields }]),
  )
  return {
    namespace,
    name,
    facets: {
      ...(columns.length > 0 && {
        schema: facet('1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet', { fields: columns }),
      }),
      ...(Object.keys(from).length > 0 && {
        columnLineage: facet('1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet', {
          fields,
        }),
      }),
    },
  }
}

export type EventType = 'START' | 'COMPLETE' | 'FAIL' | 'ABORT'

export interface Told {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly flow?: Flow | undefined
  /** Why it failed or was aborted. */
  readonly reason?: string | undefined
}

export function runEvent(eventType: EventType, { runId, job, parent }: Run, { at, flow, reason }: Told) {
  return {
    eventType,
    eventTime: new Date(at).toISOString(),
    producer,
    schemaURL: `${spec}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
    run: {
      runId,
      facets: {
        ...(parent && {
          parent: facet('1-2-0/ParentRunFacet.json#/$defs/ParentRunFacet', {
            run: { runId: parent.runId },
            job: parent.job,
          }),
        }),
        ...(reason !== undefined && {
          errorMessage: facet('1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet', {
            message: reason,
            programmingLanguage: 'JavaScript',
          }),
        }),
      },
    },
    job: { ...job, facets: {} },
    inputs: flow?.inputs.map(dataset) ?? [],
    outputs: flow?.outputs.map(dataset) ?? [],
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** As other programs hand it on in OPENLINEAGE_PARENT_ID: namespace/job/run. The namespace may have slashes. */
export function parentIn(text: string | undefined): Run['parent'] {
  const [, namespace, name, runId] = /^(.+)\/([^/]+)\/([^/]+)$/.exec(text ?? '') ?? []
  if (!namespace || !name || !runId || !uuid.test(runId)) return undefined
  return { runId, job: { namespace, name } }
}

export const asParent = ({ runId, job }: Run): string => `${job.namespace}/${job.name}/${runId}`
