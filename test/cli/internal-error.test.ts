/** What DuckDB says of its own faults is one line, without the addresses that it prints after it. */
import { expect, test } from 'vitest'
import { describeFailure } from '../../src/cli/failure.ts'

const at = { isVerbose: false, signal: new AbortController().signal, keyPlace: () => undefined }

test('the addresses of the stack are left out', () => {
  const said = 'INTERNAL Error: Attempted to access index 0'
  const stack = '\n\nStack Trace:\n\n/lib/libduckdb.so(_ZN6duckdb9Exception+0x5b) [0x7fa90dc4c1eb]\n'
  for (const message of [said, said + stack])
    expect(describeFailure(new Error(message), at).text).toBe(`muster: unexpected Error: ${said}`)
})
