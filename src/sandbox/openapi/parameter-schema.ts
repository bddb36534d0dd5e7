/** The query of an operation as JSON Schema, from the parameters that the endpoint parses. */
import { z } from 'zod'
import type { JsonSchema } from './json-schema.ts'

const meanings: Readonly<Record<string, string>> = {
  page: 'Page, from 1.',
  limit: 'Records, users, mappings or groups a page.',
  company: 'Id of a company, or several, comma-separated; all that the key may see when left out.',
  project: 'Id of the project, or several, comma-separated, where the operation takes them.',
  site: 'Id of the site, or several, comma-separated.',
  assignment: 'Id of the assignment, or several, comma-separated.',
  worker: 'Id of the worker, or several, comma-separated, where the operation takes them.',
  agency: 'Id of the agency, or several, comma-separated, where the operation takes them.',
  timesheet: 'Id of the timesheet.',
  region: 'Id of the region.',
  sector: 'Id of the sector.',
  projectId: 'Project whose effective matrix is wanted; without it the entries of the company.',
  status: 'Only records in this state.',
  role: 'Only this role.',
  action: 'Only mappings of this action.',
  category: 'Only this category.',
  invoiceType: 'Only invoices between these parties.',
  mspInvoiceType: "Only invoices of this kind, seen from the provider's side.",
  query: 'Text to look for, whatever its case.',
  dateField: 'The date that from and to apply to.',
  from: 'First day of the range.',
  to: 'Last day of the range.',
  sortBy: 'Field that the records are sorted by.',
  sortOrder: 'Ascending or descending.',
  fields: 'Fields to answer with, comma-separated; dots lead into nested ones.',
  metric: 'Rows of requisitions and workers, or one of the two aggregates.',
  groupBy: 'How mappings are grouped.',
  hoursThreshold: 'Net hours a week that count as too many; for workersOverHours.',
  includeConfig: 'Adds the configuration.',
  includeRates: 'Adds the rates.',
  includeCompetencyMatrix: 'Adds the competency matrix, without overrides of projects.',
  includeStageTracking: 'Adds the recruitment stages, where the company tracks them.',
  includeTimelogs: 'Adds the time logs.',
}

/** Property by property, with its meaning; none is required. */
export function querySchemas(parameters: z.ZodRawShape): Record<string, JsonSchema> {
  const { properties = {} } = inputSchema(z.object(parameters))
  return Object.fromEntries(
    Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => [
      name,
      { description: meanings[name] ?? '', ...schema, ...presetOf(parameters[name]) },
    ]),
  )
}

/** The package leaves out what a transformed parameter is when left out. */
function presetOf(parameter: unknown): JsonSchema {
  return parameter instanceof z.ZodDefault ? { default: parameter.def.defaultValue } : {}
}

/** What a caller sends, before it is turned into values. */
export function inputSchema(schema: z.ZodType): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest as JsonSchema
}
