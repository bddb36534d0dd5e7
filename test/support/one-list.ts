/** A service whose lists say exactly what a test puts into them, byte for byte where that matters. */
import { openSandbox } from '../sandbox/open-sandbox.ts'

export interface OneList {
  readonly url: string
  /** JSON texts of the records; or the whole body, when `whole` answers instead. */
  records: readonly string[]
  whole: (() => string | Buffer) | undefined
}

/** `path` answers from memory, everything else is the sandbox's. */
export async function oneList(path: string, records: readonly (object | string)[] = []): Promise<OneList> {
  const list: OneList = {
    url: '',
    records: records.map(record => (typeof record === 'string' ? record : JSON.stringify(record))),
    whole: undefined,
  }
  const sandbox = await openSandbox({
    records: { companies: [{ id: 'c1', name: 'Company 1' }] },
    intercept: ({ path: asked, query }) => {
      if (asked !== path) return undefined
      if (list.whole) return { status: 200, body: list.whole() }
      const page = Number(query.page ?? 1)
      const limit = Number(query.limit ?? 50)
      const rows = list.records.slice((page - 1) * limit, page * limit)
      const meta = JSON.stringify({ page, limit, total: list.records.length })
      return { status: 200, body: `{"success":true,"data":[${rows.join(',')}],"meta":${meta}}` }
    },
  })
  return Object.assign(list, { url: sandbox.url })
}
