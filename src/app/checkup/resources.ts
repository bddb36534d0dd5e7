/** Whether the key may read each resource: one request each, none where the answer is known. */
import type { Client } from '../../api/client/client.ts'
import { AccessDenied, NotFound } from '../../api/client/errors.ts'
import type { KeyInfo } from '../../api/client/key.ts'
import { collections } from '../../contract/catalogue.ts'
import type { Collection } from '../../contract/fields/resource.ts'
import { counted } from '../../lib/counted.ts'
import { type Finding, failed, ok, warn } from './finding.ts'

const purpose = { purpose: 'operator' } as const

/** Requests one record of the first scope; returns the size of the list, where there is one. */
async function ask(resource: Collection, client: Client, company: string): Promise<string> {
  const path = resource.path.replace('{company}', encodeURIComponent(company))
  const { read } = resource
  if (read.strategy === 'snapshot' && read.rows !== 'data') {
    await client.getRecord(path, resource.query, purpose)
    return 'readable'
  }
  const byCompany = read.strategy === 'snapshot' && read.per === 'companyWindow'
  const query = { ...resource.query, ...(byCompany && { company }), page: 1, limit: 1 }
  const { meta } = await client.getPage(path, query, purpose)
  const whole = read.strategy === 'scan' || read.per === 'key'
  return `readable, ${counted(meta.total, 'record')}${whole ? '' : ' in the first company'}`
}

async function readable(resource: Collection, client: Client, key: KeyInfo): Promise<Finding> {
  const check = `read ${resource.name}`
  if (resource.keys === 'company' && key.kind === 'agency')
    return warn(check, 'agency keys cannot read it', 'a sync skips it; a company key would read it')
  const perCompany = resource.read.strategy === 'snapshot' && resource.read.per !== 'key'
  const company = key.companies?.[0]?.id
  if (perCompany && company === undefined)
    return warn(check, 'the key names no company', 'ask for a key with companies, if it should be read')
  try {
    return ok(check, await ask(resource, client, company ?? ''))
  } catch (error) {
    if (error instanceof AccessDenied || error instanceof NotFound)
      return warn(check, error.message, 'a sync skips it; ask for the scope if it should be read')
    return failed(check, error)
  }
}

/** Stops at a failure that further requests would repeat. */
export async function resourceFindings(client: Client, key: KeyInfo): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const resource of collections) {
    if (resource.name === 'key') continue
    const finding = await readable(resource, client, key)
    findings.push(finding)
    if (finding.state === 'fail') break
  }
  return findings
}
