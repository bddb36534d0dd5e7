/** Writes a dbt project with the marts as sources: descriptions, tests, freshness, and an exposure for each question. */
import { type BundleFile, type BundleRequest, textFile, yamlFile } from './bundle.ts'
import type { Entity } from './entity.ts'

/**
 * Runs are a day apart; a warehouse is late after 26 hours, as in the checks. The mart of the resources says it for all: a
 * mart without rows has no time, and a build leaves a mart whose sources did not change.
 */
const freshnessOf = ({ name }: Entity): object =>
  name === 'data_health'
    ? {
        loaded_at_field: 'last_read_at',
        freshness: {
          warn_after: { count: 26, period: 'hour' },
          error_after: { count: 50, period: 'hour' },
        },
      }
    : {}

const isBuilt = ({ kind }: Entity): boolean => kind !== 'view'

function testsOf(entity: Entity, column: string): unknown[] {
  const isKey = entity.keys.includes(column)
  const join = entity.joins.find(one => one.column === column)
  return [
    ...(isKey ? ['not_null'] : []),
    ...(isKey && entity.keys.length === 1 ? ['unique'] : []),
    ...(join
      ? [{ relationships: { arguments: { to: `source('muster', '${join.entity}')`, field: join.target } } }]
      : []),
  ]
}

function tableOf(entity: Entity): object {
  return {
    name: entity.name,
    description: entity.description,
    ...freshnessOf(entity),
    columns: entity.dimensions.map(({ name, description, type }) => {
      const tests = testsOf(entity, name)
      return { name, description, data_type: type, ...(tests.length > 0 && { data_tests: tests }) }
    }),
  }
}

const sources = ({ entities, place }: BundleRequest): BundleFile =>
  yamlFile('models/muster/sources.yml', {
    version: 2,
    sources: [
      {
        name: 'muster',
        description: 'Marts of a Muster warehouse: built, checked and replaced in one transaction each.',
        ...(place.kind === 'file' && { database: attached }),
        schema: place.schema,
        tables: entities.map(tableOf),
      },
    ],
  })

const exposures = ({ entities }: BundleRequest): BundleFile =>
  yamlFile('models/muster/exposures.yml', {
    version: 2,
    exposures: entities
      .filter(({ kind }) => kind === 'fact')
      .map(({ name, question, questionSql }) => ({
        name: `question_${name}`,
        label: question,
        type: 'analysis',
        owner: { name: 'muster' },
        description: `${question}\n\n${questionSql}`,
        depends_on: [`source('muster', '${name}')`],
      })),
  })

/** dbt has no test of its own for a key of several columns. */
const keyTests = ({ entities }: BundleRequest): BundleFile[] =>
  entities
    .filter(entity => isBuilt(entity) && entity.keys.length > 1)
    .map(({ name, keys }) =>
      textFile(
        `tests/muster_key_of_${name}.sql`,
        '--',
        `select ${keys.join(', ')}, count(*) as row_count\nfrom {{ source('muster', '${name}') }}\ngroup by ${keys.join(', ')}\nhaving count(*) > 1`,
      ),
    )

const project = (): BundleFile =>
  yamlFile('dbt_project.yml', {
    name: 'muster',
    version: '1.0.0',
    'config-version': 2,
    profile: 'muster',
    'model-paths': ['models'],
    'test-paths': ['tests'],
    flags: { require_generic_test_arguments_property: true },
  })

/** Name of the warehouse in the session of dbt. */
const attached = 'muster_warehouse'

/**
 * Profiles for both engines. dbt writes a file of its own and reads the warehouse, which the dashboard reads as well: a
 * file that one process may write is closed to all others. Passwords
 * come from the environment.
 */
const profiles = ({ place }: BundleRequest): BundleFile =>
  yamlFile('profiles.yml', {
    muster: {
      target: 'warehouse',
      outputs: {
        warehouse:
          place.kind === 'file'
            ? {
                type: 'duckdb',
                path: 'muster_dbt.duckdb',
                attach: [{ path: place.database, alias: attached, read_only: true }],
                schema: 'main',
                threads: 2,
              }
            : {
                type: 'postgres',
                host: place.host,
                port: place.port,
                user: "{{ env_var('MUSTER_BI_USER', 'muster_bi') }}",
                password: "{{ env_var('MUSTER_BI_PASSWORD', '') }}",
                dbname: place.database,
                schema: "{{ env_var('MUSTER_BI_SCHEMA', 'public') }}",
                threads: 2,
              },
      },
    },
  })

export const dbtBundle = (request: BundleRequest): BundleFile[] => [
  project(),
  profiles(request),
  sources(request),
  exposures(request),
  ...keyTests(request),
]
