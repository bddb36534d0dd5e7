/** One call of a tool: the request it stands for, sent to the sandbox itself, and its answer. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { OfferedTool } from './tool-list.ts'

export interface Caller {
  /** With the base path. */
  readonly url: string
  /** Of the request that carried the call. */
  readonly authorization: string | undefined
  readonly signal: AbortSignal
}

type Arguments = Readonly<Record<string, unknown>>

/**
 * Over HTTP like everybody's: key, limits, options, faults and checker are those of the API. A refusal is a result that
 * says so, with its status and code.
 */
export async function callTool(
  { path }: OfferedTool,
  given: Arguments,
  { url, authorization, signal }: Caller,
): Promise<CallToolResult> {
  const address = addressOf(path, given)
  if ('refusal' in address) return refused(address.refusal)
  const headers = { ...(authorization === undefined ? {} : { authorization }), 'user-agent': 'tool-server' }
  try {
    const answer = await fetch(url + address.path, { headers, signal })
    return resultOf(answer.status, await answer.text())
  } catch (error) {
    if (signal.aborted) throw error
    return refused('no answer: the connection broke; call the tool again')
  }
}

function addressOf(path: string, given: Arguments): { readonly path: string } | { readonly refusal: string } {
  const query = new URLSearchParams()
  let filled: string = path
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue
    const text = textOf(value)
    if (text === undefined)
      return { refusal: `${name}: is neither text, number, true or false, nor a list of these` }
    if (path.includes(`:${name}`)) filled = filled.replace(`:${name}`, encodeURIComponent(text))
    else query.append(name, text)
  }
  const missing = /:(\w+)/.exec(filled)?.[1]
  if (missing !== undefined) return { refusal: `${missing}: is required` }
  return { path: query.size === 0 ? filled : `${filled}?${query}` }
}

/** A list is what the API takes comma-separated. */
function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const parts = value.map(part => (Array.isArray(part) ? undefined : textOf(part)))
    return parts.includes(undefined) ? undefined : parts.join(',')
  }
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined
}

interface Answer {
  readonly success?: boolean
  readonly error?: { readonly code?: string; readonly message?: string }
}

function resultOf(status: number, text: string): CallToolResult {
  const body = parsed(text)
  if (body?.success === true) return { content: [{ type: 'text', text }], structuredContent: { ...body } }
  if (!body) return refused(`${status}: the answer is not JSON; call the tool again`)
  const hint = status === 401 ? '; connect with the header Authorization: Bearer KEY' : ''
  return refused(`${status} ${body.error?.code}: ${body.error?.message}${hint}`)
}

function parsed(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const refused = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })
