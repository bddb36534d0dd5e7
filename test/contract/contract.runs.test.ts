/** One test for each row of the coverage table: each sends what it is about over HTTP and looks at what comes of it. */
import { describe, expect, it } from 'vitest'
import { kinds } from './row.ts'
import { rows } from './rows.ts'
import { openStand } from './stand.ts'

const stand = await openStand()

describe.each(kinds)('%s', kind => {
  const own = rows.filter(row => row.kind === kind)
  it.each(own.map(row => [row.what, row] as const))('%s', async (_, row) => {
    expect.hasAssertions()
    await row.show(stand)
  })
})
