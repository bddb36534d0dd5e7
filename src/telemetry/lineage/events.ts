/** Builds run events in the OpenLineage 2-0-2 format. */
import { programVersion } from '../../lib/package.ts'
import type { Dataset, Flow } from './datasets.ts'

export interface JobName {
  readonly namespace: string
  readonly name: string
}

export interface LineageRun {
  /** A UUID. */
  readonly runId: string
  readonly job: JobName
  /** The run that started this one, such as that of a DAG. */
  readonly parent?: { readonly runId: string; readonly job: JobName } | undefined
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

export type LineageEventType = 'START' | 'COMPLETE' | 'FAIL' | 'ABORT'

export interface RunEventFacts {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly flow?: Flow | undefined
  /** Why it failed or was aborted. */
  readonly reason?: string | undefined
}

export function runEvent(
  eventType: LineageEventType,
  { runId, job, parent }: LineageRun,
  { at, flow, reason }: RunEventFacts,
) {
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

/** Parses OPENLINEAGE_PARENT_ID, namespace/job/run; the namespace may contain slashes. */
export function parentIn(text: string | undefined): LineageRun['parent'] {
  const [, namespace, name, runId] = /^(.+)\/([^/]+)\/([^/]+)$/.exec(text ?? '') ?? []
  if (!namespace || !name || !runId || !uuid.test(runId)) return undefined
  return { runId, job: { namespace, name } }
}

export const asParent = ({ runId, job }: LineageRun): string => `${job.namespace}/${job.name}/${runId}`
