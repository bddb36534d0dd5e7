/** What the ledger waits for of a resource: a record that may settle it is looked for only when there is something. */
import type { Engine } from '../../warehouse/engine.ts'

export interface OpenCases {
  /** Witnesses and deletions that a record on a page would contradict. */
  readonly suspects: number
  /** Records that could not be loaded so far. */
  readonly quarantined: number
}

/** One question for every batch. */
export async function openCases(engine: Engine, resource: string): Promise<OpenCases> {
  const [row] = await engine.rows<OpenCases>(
    `select (select count(*) from ops.witness where resource = $1 and void_at is null)
       + (select count(*) from ops.deletion where resource = $1 and undeleted_at is null) as suspects,
       (select count(*) from ops.quarantine where resource = $1 and resolved_at is null) as quarantined`,
    [resource],
  )
  return { suspects: Number(row?.suspects ?? 0), quarantined: Number(row?.quarantined ?? 0) }
}
