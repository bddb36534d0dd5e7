/** Serves projects and sites: GET /projects, /projects/{id}, /sites and /sites/{id}. */
import { operations } from '../../contract/operations.ts'
import { projects } from '../../contract/resources/projects.ts'
import { sites } from '../../contract/resources/sites.ts'
import { readEndpoint } from '../declare/endpoint.ts'
import { listEndpoint } from '../declare/list.ts'
import { recordOf } from '../declare/schemas.ts'
import type { KeyInWorld } from '../keys/keys.ts'
import { isLinked, type RecordTest, scopeTests } from '../keys/scope.ts'

const within = { company: 'company.id' }
const project = recordOf('Project', projects)
const site = recordOf('Site', sites)

export const projectList = listEndpoint({
  operation: operations.listProjects,
  keys: 'company',
  scope: 'read:projects',
  summary: 'Projects.',
  returns: project,
  collection: 'projects',
  within,
  search: ['name', 'code'],
  sort: ['name', 'asc'],
})

export const projectRead = readEndpoint({
  operation: operations.readProject,
  keys: 'company',
  scope: 'read:projects',
  noun: 'project',
  returns: project,
  collection: 'projects',
  within,
})

export const siteList = listEndpoint({
  operation: operations.listSites,
  keys: 'company',
  scope: 'read:projects',
  summary: 'Sites.',
  returns: site,
  collection: 'sites',
  within,
  search: ['name'],
  sort: ['name', 'asc'],
})

export const siteRead = readEndpoint({
  operation: operations.readSite,
  scope: 'read:projects',
  noun: 'site',
  returns: site,
  collection: 'sites',
  within: visibleSites,
})

/** An agency sees the sites of the projects that it works for. */
function visibleSites(caller: KeyInWorld): readonly RecordTest[] {
  if (caller.key.kind === 'company') return scopeTests(caller, within)
  return [({ project: of }) => isLinked(caller, 'project', String((of as { id?: string })?.id))]
}
