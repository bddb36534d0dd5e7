/** Marts of one key column `id`, one row a company, for tests of what builds them. */
import { type Mart, readMart } from '../../src/marts/mart.ts'

export interface MartParts {
  /** `company_id` of every company, and null for each further column, when left out. */
  readonly select?: string
  /** Lines of the header beside that of `id`. */
  readonly columns?: readonly string[]
}

export function companyMart(name: string, { select, columns = [] }: MartParts = {}): Mart {
  const rest = columns.map(() => ', null').join('')
  return readMart({
    name: `mart/${name}.sql`,
    text: `-- What ${name} is for.
-- Grain: one row per company.
-- Question: Which companies are there?
-- Sources: star.dim_company
-- Columns:
--   id text key: The company.
${columns.map(line => `--   ${line}\n`).join('')}${select ?? `select company_id${rest} from star.dim_company where company_id <> '-1'`};
`,
  })
}
