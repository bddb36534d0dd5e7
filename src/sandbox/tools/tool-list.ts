/** The operations that the contract offers as tools, each with the parameters of its endpoint. */
import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import { endpoints } from '../endpoints/endpoints.ts'
import type { EndpointPath } from '../keys/access.ts'
import type { JsonSchema } from '../openapi/json-schema.ts'
import { operations } from '../openapi/operations.ts'
import { querySchemas } from '../openapi/parameter-schema.ts'

export interface OfferedTool {
  readonly path: EndpointPath
  readonly tool: Tool
}

const pathId: JsonSchema = { type: 'string', description: 'Id or short id.' }

/** Without an output schema: those of all records are longer than what an assistant reads at a time. */
export const offeredTools: readonly OfferedTool[] = endpoints.flatMap(({ path, parameters }) => {
  const { tool, summary } = operations[path]
  if (tool === undefined) return []
  const hasId = path.includes(':id')
  const properties = { ...(hasId && { id: pathId }), ...querySchemas(parameters) }
  return [
    {
      path,
      tool: {
        name: tool,
        description: summary,
        inputSchema: {
          type: 'object' as const,
          properties,
          ...(hasId && { required: ['id'] }),
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
    },
  ]
})
