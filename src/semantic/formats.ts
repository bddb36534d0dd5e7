/** Declares the formats in which the catalogue can be written. */
import type { BundleFile, BundleRequest } from './bundle.ts'
import { cubeBundle } from './cube.ts'
import { dbtBundle } from './dbt.ts'
import { grafanaBundle } from './grafana.ts'
import { metricflowBundle } from './metricflow.ts'
import { odcsBundle } from './odcs.ts'
import { supersetBundle } from './superset.ts'

export interface Format {
  /** Of the option, as in `--dbt <folder>`. */
  readonly name: string
  readonly summary: string
  readonly files: (request: BundleRequest) => BundleFile[]
}

export const formats: readonly Format[] = [
  { name: 'dbt', summary: 'a dbt project: sources with tests and freshness, exposures', files: dbtBundle },
  { name: 'metricflow', summary: 'the same with semantic models and metrics', files: metricflowBundle },
  { name: 'cube', summary: 'a data model of Cube', files: cubeBundle },
  { name: 'odcs', summary: 'a data contract, ODCS 3.1', files: odcsBundle },
  { name: 'superset', summary: 'an import bundle of Superset, with a dashboard', files: supersetBundle },
  { name: 'grafana', summary: 'provisioning of Grafana, with a dashboard', files: grafanaBundle },
]
